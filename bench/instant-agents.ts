import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRunStore, createScriptedBackend, runWorkflow } from 'wf-runtime';

const SCRIPTS: Readonly<Record<string, string>> = {
  parallel: `export const meta = { name: 'parallel', description: 'instant agents at once' }
const done = await parallel(Array.from({ length: args.count }, (_, i) => () => agent('item ' + i)))
return done.filter((value) => value === 'ok').length`,
  pipeline: `export const meta = { name: 'pipeline', description: 'instant agents in two stages' }
const items = Array.from({ length: args.count / 2 }, (_, i) => i)
const done = await pipeline(items, (i) => agent('first ' + i), (previous, i) => agent('second ' + i))
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
 * Runs `count` instant agents through the whole product: sandbox, journal with sync, event log. With `resume`, measures a
 * second launch that finds all of them done. Transcripts are off: they are two files an agent, which no plain loop writes.
 */
async function measure(shape: string, count: number, concurrency: number, resume: boolean) {
  const root = mkdtempSync(join(tmpdir(), 'wf-bench-'));
  let childPeakMb = 0;
  const sampler = setInterval(() => {
    for (const pid of childPids()) childPeakMb = Math.max(childPeakMb, peakMb(pid));
  }, 10);
  try {
    const common = {
      store: createRunStore({ root }),
      backend: createScriptedBackend({ default: [{ text: 'ok' }] }),
      concurrency,
      limits: { maxAgents: count, maxItems: count },
      transcripts: false,
    };
    const script = SCRIPTS[shape];
    if (script === undefined) throw new Error(`unknown shape ${shape}`);
    let from = performance.now();
    let run = await runWorkflow({ ...common, script, argsJson: JSON.stringify({ count }) });
    if (resume) {
      from = performance.now();
      run = await runWorkflow({ ...common, runId: run.runId });
    }
    const wallMs = performance.now() - from;
    if (run.result !== count)
      throw new Error(`expected ${count}, got ${JSON.stringify(run.result)} ${run.error?.message}`);
    if (resume && run.output.census.agents_cached !== count)
      throw new Error('not every call was answered from the journal');
    const cpu = process.cpuUsage();
    return { wallMs, peakMb: peakMb('self') + childPeakMb, ownCpuMs: (cpu.user + cpu.system) / 1000 };
  } finally {
    clearInterval(sampler);
    rmSync(root, { recursive: true, force: true });
  }
}

const [shape = 'parallel', count = '10000', concurrency = '64', mode = 'run'] = process.argv.slice(2);
console.log(JSON.stringify(await measure(shape, Number(count), Number(concurrency), mode === 'resume')));
