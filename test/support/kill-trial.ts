import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStoredRun } from '../../cli/state/stored-run.ts';
import { type KillApi, startKillApi } from './kill-api.ts';
import { auditRun, type KillFindings } from './kill-audit.ts';
import { type Evidence, readEvidence, type SlotAnswer } from './kill-evidence.ts';
import { startWf, type WfEnd } from './kill-process.ts';
import { KillRandom } from './kill-random.ts';
import { AGENTS_A_RUN, KILL_SHAPES, type KillShape, killScript } from './kill-shapes.ts';

/** When and whom to kill in one launch. */
type Kill =
  | { readonly whom: 'runner' | 'sandbox' | 'group'; readonly afterRequests: number; readonly thenMs: number }
  | { readonly whom: 'runner' | 'group'; readonly afterMs: number }
  | { readonly whom: 'itself'; readonly atWrite: string };

interface Plan {
  readonly shape: KillShape;
  readonly concurrency: number;
  readonly latencyMs: number;
  readonly answerLength: number;
  readonly kills: readonly Kill[];
}

export interface KillTrial {
  readonly seed: number;
  readonly plan: Plan;
  /** Processes that died of SIGKILL, by whom the plan names. */
  readonly killed: Readonly<Record<string, number>>;
  readonly tornTails: number;
  /** Runs that a reader did not call interrupted after their runner was killed. */
  readonly notInterrupted: number;
  /** Launches that did not go on with the run, by what they said. */
  readonly stopped: readonly string[];
  readonly findings: KillFindings;
}

const WRITTEN = [
  'journal.jsonl',
  'journal.jsonl',
  'journal.jsonl',
  'events.ndjson',
  'run.json',
  'owner.',
  'output.json',
];
/** What a run that is left alone writes to each, at least. */
const WRITES: Readonly<Record<string, number>> = { 'run.json': 2, 'owner.': 2, 'output.json': 1 };

function planOf(random: KillRandom): Plan {
  const shape = random.oneOf(KILL_SHAPES);
  return {
    shape,
    concurrency: random.oneOf([1, 4, 16, 60]),
    latencyMs: random.oneOf([0, 10, 30]),
    answerLength: random.oneOf([0, 0, 200, 100_000]),
    kills: Array.from({ length: random.oneOf([1, 1, 2, 3]) }, () => killOf(random)),
  };
}

function killOf(random: KillRandom): Kill {
  const dice = random.next();
  if (dice < 0.12) return { whom: random.oneOf(['runner', 'group']), afterMs: random.between(0, 450) };
  if (dice < 0.4) {
    const file = random.oneOf(WRITTEN);
    return { whom: 'itself', atWrite: `${file}:${random.between(1, WRITES[file] ?? 25)}` };
  }
  const afterRequests = random.between(1, AGENTS_A_RUN);
  return { whom: random.oneOf(['runner', 'sandbox', 'group']), afterRequests, thenMs: random.between(0, 40) };
}

/** One run that is started, killed once or more, and resumed to its end. Everything random comes from the seed, but the timing. */
export async function killTrial(program: string, seed: number): Promise<KillTrial> {
  const random = new KillRandom(seed);
  const plan = planOf(random);
  const place = mkdtempSync(join(tmpdir(), 'wf-kill-'));
  writeFileSync(join(place, 'kill.js'), killScript(plan.shape));
  const latencyMs = () => random.between(0, plan.latencyMs);
  const api = await startKillApi({ latencyMs, answerLength: plan.answerLength });
  try {
    return await new Trial(program, seed, plan, place, api).run();
  } finally {
    await api.close();
    rmSync(place, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Trial {
  readonly #program: string;
  readonly #seed: number;
  readonly #plan: Plan;
  readonly #place: string;
  readonly #api: KillApi;
  readonly #after: Evidence[] = [];
  readonly #killed: Record<string, number> = {};
  readonly #stopped: string[] = [];
  #notInterrupted = 0;

  constructor(program: string, seed: number, plan: Plan, place: string, api: KillApi) {
    this.#program = program;
    this.#seed = seed;
    this.#plan = plan;
    this.#place = place;
    this.#api = api;
  }

  async run(): Promise<KillTrial> {
    for (const kill of this.#plan.kills) await this.#killedLaunch(kill);
    const { exit, stdout, stderr } = await this.#launch();
    this.#look();
    if (exit !== 0) this.#stopped.push(`exit ${exit}: ${stderr.slice(0, 1000)}${stdout.slice(0, 500)}`);
    const output =
      exit === 0 ? (JSON.parse(stdout) as { result: Record<string, Omit<SlotAnswer, 'slot'>> }) : undefined;
    const result = output?.result ?? {};
    const slots = Object.keys(result).length;
    if (exit === 0 && slots !== AGENTS_A_RUN) this.#stopped.push(`${slots} of ${AGENTS_A_RUN} slots were filled`);
    return {
      seed: this.#seed,
      plan: this.#plan,
      killed: this.#killed,
      tornTails: this.#after.filter(({ tornTail }) => tornTail).length,
      notInterrupted: this.#notInterrupted,
      stopped: this.#stopped,
      findings: auditRun(this.#after, this.#api.asked, result),
    };
  }

  async #killedLaunch(kill: Kill): Promise<void> {
    const end = await this.#launch(kill);
    this.#look();
    const runnerDied = end.exit === 'SIGKILL';
    const sandboxDied = kill.whom === 'sandbox' && end.exit !== 0;
    if (runnerDied || sandboxDied) this.#killed[kill.whom] = (this.#killed[kill.whom] ?? 0) + 1;
    else if (end.exit !== 0) this.#stopped.push(`exit ${end.exit} before it was killed: ${end.stderr.slice(0, 1000)}`);
    const runId = this.#runId();
    if (!runnerDied || runId === undefined) return;
    const { state } = await readStoredRun(this.#state, runId);
    // A process that was killed after it had written down the end of its run left nothing to interrupt.
    if (state === 'running') this.#notInterrupted += 1;
  }

  async #launch(kill?: Kill): Promise<WfEnd> {
    const runId = this.#runId();
    const { concurrency } = this.#plan;
    const how = [
      '--concurrency',
      String(concurrency),
      '--state-dir',
      this.#state,
      '--output-format',
      'json',
      '--quiet',
    ];
    const what = runId === undefined ? ['run', 'kill.js'] : ['resume', runId];
    let onRequest: (count: number) => void = () => {};
    const apiUrl = this.#api.beginLaunch((count) => onRequest(count));
    const wf = startWf({
      program: this.#program,
      argv: [...what, '--backend', 'anthropic', ...how],
      cwd: this.#place,
      apiUrl,
      killAtWrite: kill?.whom === 'itself' ? kill.atWrite : undefined,
    });
    let timer: NodeJS.Timeout | undefined;
    if (kill !== undefined && 'afterMs' in kill) timer = setTimeout(() => wf.kill(kill.whom), kill.afterMs);
    if (kill !== undefined && 'afterRequests' in kill) {
      onRequest = (count) => {
        if (count === kill.afterRequests) timer = setTimeout(() => wf.kill(kill.whom), kill.thenMs);
      };
    }
    const end = await wf.ended;
    clearTimeout(timer);
    return end;
  }

  get #state(): string {
    return join(this.#place, 'state');
  }

  /** The run, once it has a record. A launch that was killed before that has asked for nothing. */
  #runId(): string | undefined {
    const runs = join(this.#state, 'runs');
    const names = existsSync(runs) ? readdirSync(runs) : [];
    return names.find((name) => existsSync(join(runs, name, 'run.json')));
  }

  #look(): void {
    const runId = this.#runId();
    const empty: Evidence = { stored: [], got: [], launches: 0, tornTail: false, faults: [] };
    this.#after.push(runId === undefined ? empty : readEvidence(join(this.#state, 'runs', runId)));
  }
}
