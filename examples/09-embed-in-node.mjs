// Runs a workflow from a program, follows its progress as an agent CLI would, and resumes it for free.
// It reads 03-fan-out-and-synthesis.js, which must stand beside it.
// node examples/09-embed-in-node.mjs
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRunStore, createSimulatedBackend, createStreamJsonEmitter, runWorkflow, TaskTracker } from 'wf-runtime';

const root = await mkdtemp(join(tmpdir(), 'wf-embed-'));
try {
  const tracker = new TaskTracker();
  const progress = createStreamJsonEmitter({
    dialect: 'claude',
    taskId: 'task-1',
    sessionId: 'session-1',
    includeSource: false,
    write: (line) => tracker.accept(JSON.parse(line), Date.now()),
  });
  const options = { store: createRunStore({ root }), backend: createSimulatedBackend() };
  const script = await readFile(new URL('./03-fan-out-and-synthesis.js', import.meta.url), 'utf8');

  const run = await runWorkflow({ ...options, script, argsJson: '{"question":"Tabs or spaces?"}', sinks: [progress] });
  assert.equal(run.output.status, 'completed');
  assert.equal(run.result.question, 'Tabs or spaces?');
  assert.equal(tracker.task('task-1')?.status, 'completed');

  const again = await runWorkflow({ ...options, runId: run.runId });
  assert.equal(again.output.census.agents_cached, 5);
  assert.deepEqual(again.result, run.result);
  console.log(
    `${run.runId}: ${run.output.census.agents_done} agents, then ${again.output.census.agents_cached} answers from the journal`,
  );
} finally {
  await rm(root, { recursive: true, force: true });
}
