import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const wf = join(here, '..', 'bin', 'wf.mjs');
const CONCURRENCY = 64;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);

interface Line {
  readonly what: string;
  readonly measured: string;
  readonly bound: string;
  readonly ok: boolean;
}
const lines: Line[] = [];

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function nodeJson<T>(args: readonly string[]): T {
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as T;
}

/** Wall time of a whole process, start and end included, in milliseconds. */
function processMs(args: readonly string[]): number {
  const from = performance.now();
  execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return performance.now() - from;
}

function report(what: string, measured: string, bound: string, ok: boolean): void {
  lines.push({ what, measured, bound, ok });
  console.log(`${ok ? 'ok  ' : 'OVER'}  ${what}: ${measured} (bound: ${bound})`);
}

/** What is left behind is removed, and that is no part of a measurement. */
function inNewDirectory<T>(measure: (root: string) => T): T {
  const root = mkdtempSync(join(tmpdir(), 'wf-bench-'));
  try {
    return measure(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Pairs of (plain, ours), taken in turn so that both meet the same machine. */
function throughput(shape: string, count: number): number {
  const ratios: number[] = [];
  const walls: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const plain = processMs([join(here, 'plain-loop.ts'), String(count), String(CONCURRENCY)]);
    const ours = inNewDirectory((root) =>
      processMs([join(here, 'instant-agents.ts'), shape, String(count), String(CONCURRENCY), 'run', root]),
    );
    ratios.push(ours / plain);
    walls.push(ours);
  }
  const ratio = median(ratios);
  report(
    `${count.toLocaleString('en-US')} instant agents, ${shape}`,
    `${ratio.toFixed(2)}× the plain loop, ${Math.round(median(walls))} ms, ${((median(walls) / count) * 1000).toFixed(1)} µs an agent`,
    '4×',
    ratio <= 4,
  );
  return ratio;
}

function memory(): void {
  const { peakMb } = nodeJson<{ peakMb: number }>([
    join(here, 'instant-agents.ts'),
    'parallel',
    '10000',
    String(CONCURRENCY),
  ]);
  report('peak memory, all processes, 10,000 agents', `${Math.round(peakMb)} MiB`, '250 MiB', peakMb <= 250);
}

interface Measured {
  readonly wallMs: number;
  readonly peakMb: number;
  readonly journalBytes: number;
}

/** A first launch and a second one that finds all its agents done, each a process of its own, with transcripts as usual. */
function launches(count: number): { readonly first: Measured; readonly second: Measured } {
  return inNewDirectory((root) => {
    const args = [join(here, 'instant-agents.ts'), 'parallel', String(count), String(CONCURRENCY), 'transcripts', root];
    return { first: nodeJson<Measured>(args), second: nodeJson<Measured>(args) };
  });
}

function resume(): void {
  const sizes = [2, 1_000, 10_000] as const;
  const pairs = sizes.map((count) => Array.from({ length: rounds }, () => launches(count)));
  const [cold = Number.NaN, ...walls] = pairs.map((of) => median(of.map(({ second }) => second.wallMs)));
  for (const [at, wall] of walls.entries()) {
    report(
      `resume of ${sizes[at + 1]?.toLocaleString('en-US')} finished agents`,
      `${Math.round(wall - cold)} ms above a resume of 2`,
      '1,000 ms',
      wall - cold <= 1000,
    );
  }
  const largest = pairs.at(-1) ?? [];
  const run = median(largest.map(({ first }) => first.peakMb));
  const resumed = median(largest.map(({ second }) => second.peakMb));
  report(
    'peak memory of a resume of 10,000 finished agents',
    `${Math.round(resumed)} MiB against ${Math.round(run)} MiB of the run`,
    'no more than the run',
    resumed <= run,
  );
  const bytes = (largest[0]?.first.journalBytes ?? Number.NaN) / 10_000;
  report('journal of an instant agent, both rows', `${Math.round(bytes)} bytes`, 'none', true);
}

/** What keeping scopes costs: the same run with the script as its author wrote it, taken in turn. */
function scopes(count: number): void {
  const timed = (mode: string): number =>
    processMs([join(here, 'instant-agents.ts'), 'stages', String(count), String(CONCURRENCY), mode]);
  const ratios = Array.from({ length: rounds }, () => timed('with-scopes') / timed('without-scopes'));
  const cost = 100 * (median(ratios) - 1);
  report(
    `what keeps scopes, ${count.toLocaleString('en-US')} agents awaited in async stages`,
    `${cost.toFixed(1)} % of the time`,
    '10 %',
    cost < 10,
  );
}

interface Spawned {
  readonly wallMs: number;
  readonly firstLineMs: number;
}

function timeCommand(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<Spawned> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    let firstLineMs = Number.NaN;
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.once('data', () => {
      firstLineMs = performance.now() - from;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve({ wallMs: performance.now() - from, firstLineMs });
      else reject(new Error(`${args.join(' ')} exited ${code}`));
    });
  });
}

async function startUp(): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), 'wf-bench-'));
  try {
    const env = { PATH: process.env['PATH'], HOME: cwd, WF_HOME: join(cwd, 'state') };
    writeFileSync(
      join(cwd, 'one.js'),
      "export const meta = { name: 'one', description: 'one agent' }\nreturn await agent('hello')\n",
    );
    writeFileSync(join(cwd, 'responses.json'), '{"default":[{"text":"ok"}]}');
    const run = [
      wf,
      'run',
      'one.js',
      '--backend',
      'scripted',
      '--responses',
      'responses.json',
      '--output-format',
      'stream-json',
    ];
    await timeCommand(run, env, cwd); // fills the compile cache, as any second start finds it
    const bare: number[] = [];
    const whole: number[] = [];
    const first: number[] = [];
    for (let round = 0; round < 3 * rounds; round++) {
      bare.push((await timeCommand(['-e', '0'], env, cwd)).wallMs);
      const ours = await timeCommand(run, env, cwd);
      whole.push(ours.wallMs);
      first.push(ours.firstLineMs);
    }
    const base = median(bare);
    const wall = median(whole) / base;
    const line = median(first) / base;
    report(
      'wf run of one agent, wall',
      `${wall.toFixed(2)}× node -e 0, ${Math.round(median(whole))} ms against ${Math.round(base)} ms`,
      '6×',
      wall <= 6,
    );
    report(
      'wf run of one agent, first stream line',
      `${line.toFixed(2)}× node -e 0, ${Math.round(median(first))} ms`,
      '4×',
      line <= 4,
    );
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

async function overTheApi(count: number): Promise<void> {
  const { cpuMsPerAgent, progressMb } = nodeJson<{ cpuMsPerAgent: number; progressMb: number }>([
    join(here, 'api-agents.ts'),
    String(count),
  ]);
  report(
    `${count.toLocaleString('en-US')} agents over a loopback Messages API, CPU of all our processes`,
    `${cpuMsPerAgent.toFixed(2)} ms an agent`,
    '3 ms',
    cpuMsPerAgent <= 3,
  );
  report('the same, task_progress lines', `${progressMb.toFixed(2)} MB`, '5 MB', progressMb < 5);
}

async function interrupt(): Promise<void> {
  const { beforeMs, afterMs } = nodeJson<{ beforeMs: number; afterMs: number }>([join(here, 'interrupt-latency.ts')]);
  report('stop while the script spins before an await', `${Math.round(beforeMs)} ms`, '200 ms', beforeMs <= 200);
  report('stop while the script spins after an await', `${Math.round(afterMs)} ms`, '200 ms', afterMs <= 200);
}

const started = new Date().toISOString().slice(0, 10);
for (const shape of ['parallel', 'pipeline']) {
  const small = throughput(shape, 10_000);
  const large = throughput(shape, 100_000);
  report(
    `${shape}: ratio at 100,000 against 10,000`,
    `${large.toFixed(2)}× against ${small.toFixed(2)}×`,
    'no worse',
    large <= small * 1.05,
  );
}
memory();
resume();
scopes(100_000);
await startUp();
await overTheApi(1_000);
await interrupt();

const table = [
  '| what | measured | bound | |',
  '|---|---|---|---|',
  ...lines.map(({ what, measured, bound, ok }) => `| ${what} | ${measured} | ${bound} | ${ok ? 'ok' : 'over'} |`),
].join('\n');
const readme = join(here, 'README.md');
const [head = ''] = readFileSync(readme, 'utf8').split('<!-- results -->');
const machine = `${started}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.versions.node}, medians of ${rounds} pairs.`;
writeFileSync(readme, `${head}<!-- results -->\n\n${machine}\n\n${table}\n`);
