/**
 * A consumer of the stream: what a program that shows workflows has to do, and no more. `task_started` opens an entry, each
 * snapshot replaces the last one, `task_updated` says how the task stands, and `task_notification` alone says that it has ended.
 *
 *   node 12-stream-consumer.mjs NAME [ARGS]        WF names the program, `wf` without it
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

// #region consumer
/** Tasks by their id, kept up to date by {@link take}. */
const tasks = new Map();

/** Takes one line of the stream. What is not known is none of our business. */
function take(line) {
  const task = tasks.get(line.task_id);
  switch (line.type === 'system' ? line.subtype : undefined) {
    case 'task_started':
      tasks.set(line.task_id, { name: line.workflow_name, status: 'running', phases: [], agents: [] });
      break;
    case 'task_progress': {
      // Each is a full snapshot: it replaces what was known. One without it changes nothing here.
      const items = line.workflow_progress;
      if (task === undefined || items === undefined) break;
      task.phases = items.filter((item) => item.type === 'workflow_phase');
      task.agents = items.filter((item) => item.type === 'workflow_agent');
      break;
    }
    case 'task_updated':
      if (task !== undefined) task.status = line.patch.status;
      break;
    case 'task_notification':
      if (task !== undefined) Object.assign(task, { ended: line.status, outputFile: line.output_file });
      break;
    default:
  }
}
// #endregion

const [name, ...args] = process.argv.slice(2);
if (name === undefined) {
  console.error('usage: node 12-stream-consumer.mjs NAME [ARGS]');
  process.exit(64);
}
const [program, ...before] = (process.env.WF ?? 'wf').split(' ');
const flags = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--dialect', 'cbc'];
const wf = spawn(program, [...before, ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
const content = `/${name} ${args.join(' ')}`.trim();
wf.stdin.end(`${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`);

for await (const text of createInterface({ input: wf.stdout })) take(JSON.parse(text));

for (const { name: workflow, ended, phases, agents } of tasks.values()) {
  console.log(`${workflow}: ${ended}`);
  for (const { label, state, phaseIndex } of agents) {
    const phase = phases.find(({ index }) => index === phaseIndex)?.title ?? '-';
    console.log(`  ${phase} / ${label}: ${state}`);
  }
}
process.exitCode = tasks.size > 0 && [...tasks.values()].every(({ ended }) => ended === 'completed') ? 0 : 1;
