import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRunStore, createScriptedBackend, lastRunId, runWorkflow, type WorkflowOptions } from 'wf-runtime';

const SCRIPTS: Readonly<Record<string, string>> = {
  parallel: `export const meta = { name: 'parallel', description: 'instant agents at once' }
const done = await parallel(Array.from({ length: args.count }, (_, i) => () => agent('item ' + i)))
return done.filter((value) => value === 'ok').length`,
  pipeline: `export const meta = { name: 'pipeline', description: 'instant agents in two stages' }
const items = Array.from({ length: args.count / 2 }, (_, i) => i)
const done = await pipeline(items, (i) => agent('first ' + i), (previous, i) => agent('second ' + i))
return 2 * done.filter((value) => value === 'ok').length`,
  stages: `export const meta = { name: 'stages', description: 'instant agents awaited in async stages' }
const ask = async (prompt) => { const value = await agent(prompt); return value }
const items = Array.from({ length: args.count / 2 }, (_, i) => i)
const done = await pipeline(items, async (i) => await ask('first ' + i), async (previous, i) => await ask('second ' + i))
return 2 * done.filter((value) => value === 'ok').length`,
};

/** Peak resident memory of a process in MiB; 0 where /proc does not tell. */
function peakMb(pid: number | 'self'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function childPids(): number[] {
  try {
    return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

/**
 * Runs `count` instant agents through the whole product: sandbox, journal with sync, event log.
 *
 * @param root where the run is kept: a run that is there is resumed, which finds all agents done; it is left there
 */
async function measure(
  shape: string,
  count: number,
  concurrency: number,
  root: string,
  more: Partial<WorkflowOptions>,
) {
  let childPeakMb = 0;
  const sampler = setInterval(() => {
    for (const pid of childPids()) childPeakMb = Math.max(childPeakMb, peakMb(pid));
  }, 10);
  try {
    const script = SCRIPTS[shape];
    if (script === undefined) throw new Error(`unknown shape ${shape}`);
    const earlier = await lastRunId(root);
    const common = {
      store: createRunStore({ root }),
      backend: createScriptedBackend({ default: [{ text: 'ok' }] }),
      concurrency,
      limits: { maxAgents: count, maxItems: count },
      ...more,
    };
    const from = performance.now();
    const run = await runWorkflow(
      earlier === undefined
        ? { ...common, script, argsJson: JSON.stringify({ count }) }
        : { ...common, runId: earlier },
    );
    const wallMs = performance.now() - from;
    if (run.result !== count) throw new Error(`expected ${count}, got ${run.resultJson} ${run.error?.message}`);
    if (earlier !== undefined && run.output.census.agents_cached !== count)
      throw new Error('not every call was answered from the journal');
    const cpu = process.cpuUsage();
    return {
      wallMs,
      peakMb: peakMb('self') + childPeakMb,
      ownCpuMs: (cpu.user + cpu.system) / 1000,
      journalBytes: statSync(join(root, 'runs', run.runId, 'journal.jsonl')).size,
    };
  } finally {
    clearInterval(sampler);
  }
}

/**
 * What a mode changes. `run` leaves transcripts out: they are two files an agent, which no plain loop writes. `transcripts`
 * keeps them, as any run does unless it is told not to. The last two run the script with what keeps scopes, and as its author
 * wrote it, without.
 */
async function changesOf(mode: string, shape: string): Promise<Partial<WorkflowOptions>> {
  if (mode === 'run' || mode === 'transcripts') return { transcripts: mode === 'transcripts' };
  const { spawnSandbox } = await import('../runtime/sandbox/spawn-sandbox.ts');
  const sandbox = spawnSandbox();
  if (mode === 'with-scopes') return { sandbox, transcripts: false };
  const { parseProgram } = await import('../runtime/script/parse-program.ts');
  const { code } = parseProgram({ fileName: 'script.js', source: SCRIPTS[shape] ?? '' });
  const run = sandbox.run.bind(sandbox);
  sandbox.run = (program, options, handlers) => run({ ...program, code }, options, handlers);
  return { sandbox, transcripts: false };
}

const [shape = 'parallel', count = '10000', concurrency = '64', mode = 'run', kept] = process.argv.slice(2);
const root = kept ?? mkdtempSync(join(tmpdir(), 'wf-bench-'));
try {
  const more = await changesOf(mode, shape);
  console.log(JSON.stringify(await measure(shape, Number(count), Number(concurrency), root, more)));
} finally {
  if (kept === undefined) rmSync(root, { recursive: true, force: true });
}
