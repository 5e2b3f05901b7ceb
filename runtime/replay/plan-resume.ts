import type { FailedRow } from '../../protocol/journal-row.ts';
import { type CallOptions, CallOptionsError, readCallOptions } from '../calls/call-options.ts';
import { loadNamedSchemas } from '../calls/named-schemas.ts';
import { NestedWorkflows } from '../nested-workflows.ts';
import type { RunDirectory, StoredRow, TimerHandle } from '../ports.ts';
import { argsHash, effectiveLimits, parseAuthorScript, scriptDirectoryOf, sha256 } from '../prepare-run.ts';
import type { ResumeOptions } from '../run-options.ts';
import type { GuestAgentCall, Sandbox } from '../sandbox/sandbox.ts';
import { spawnSandbox } from '../sandbox/spawn-sandbox.ts';
import type { ParsedScript } from '../script/parse-script.ts';
import { systemClock } from '../system-clock.ts';
import { refuseLostJournal } from './lost-journal.ts';
import { type CallIdentity, type CallPlace, ReplayIndex } from './replay-index.ts';

/** One call that a resume would make. */
export interface PlannedCall {
  readonly key: string;
  readonly label: string;
  readonly phase: string | null;
  readonly scope: string;
  /** Whether a stored result answers it. */
  readonly cached: boolean;
  /** Why it would run; absent when it would not. */
  readonly reason?: string;
}

const END_GRACE_MS = 2_000;

/** What a resume would do, as far as it can be known without running an agent. Source: spec R-25. */
export interface ResumePlan {
  /** In call order. */
  readonly calls: readonly PlannedCall[];
  readonly cached: number;
  readonly toRun: number;
  /** Tokens of the calls to run, from the medians of this run's own finished agents; undefined when there is none. */
  readonly estimate: { readonly inputTokens: number; readonly outputTokens: number } | undefined;
  /** False when the script waits for calls that have no result: more calls may follow them. */
  readonly complete: boolean;
}

export interface PlanOptions extends Omit<ResumeOptions, 'backend'> {
  /** Reads the prompt of an earlier agent, to tell how a new one differs. @defaultValue reasons do without */
  readonly promptOf?: (agentId: string) => Promise<string | undefined>;
}

/**
 * Runs the script of a stored run with its stored results and nothing else: calls that have none are noted and never
 * answered. Writes nothing and spends nothing.
 *
 * @throws WorkflowError `REPLAY_…` or `SCRIPT_…`
 */
export async function planResume(options: PlanOptions): Promise<ResumePlan> {
  const sandbox = options.sandbox ?? spawnSandbox();
  try {
    const directory = await options.store.open(options.runId);
    try {
      return await plan(options, directory, sandbox);
    } finally {
      await directory.close();
    }
  } finally {
    sandbox.kill();
  }
}

async function plan(options: PlanOptions, directory: RunDirectory, sandbox: Sandbox): Promise<ResumePlan> {
  refuseLostJournal(directory, options.salvage ?? false);
  const script = parseAuthorScript({
    script: options.script ?? directory.scriptText,
    fileName: options.fileName ?? directory.record.scriptFileName,
  });
  const argsJson = options.argsJson ?? directory.argsJson;
  const program = { scriptSha256: sha256(script.source), argsSha256: argsHash(argsJson) };
  const replay = new ReplayIndex(directory.history.rows, program);
  const rehearsal = new Rehearsal(options, directory, await loadNamedSchemas(options.schemas), replay);
  const complete = await rehearsal.play(sandbox, script, argsJson);
  const calls = await Promise.all(rehearsal.calls.map(async (call) => call));
  const toRun = calls.filter(({ cached }) => !cached).length;
  return {
    calls,
    cached: calls.length - toRun,
    toRun,
    estimate: estimate(directory.history.rows, toRun),
    complete,
  };
}

class Rehearsal {
  readonly calls: (PlannedCall | Promise<PlannedCall>)[] = [];
  readonly #options: PlanOptions;
  readonly #directory: RunDirectory;
  readonly #schemas: Awaited<ReturnType<typeof loadNamedSchemas>>;
  readonly #history: History;
  readonly #replay: ReplayIndex;
  #undecided: { readonly call: GuestAgentCall; readonly options: CallOptions; readonly place: CallPlace }[] = [];
  #sandbox: Sandbox | undefined;
  #missing = 0;

  constructor(
    options: PlanOptions,
    directory: RunDirectory,
    schemas: Awaited<ReturnType<typeof loadNamedSchemas>>,
    replay: ReplayIndex,
  ) {
    this.#options = options;
    this.#directory = directory;
    this.#schemas = schemas;
    this.#replay = replay;
    this.#history = new History(directory.history.rows);
  }

  /** Resolves once the script can go no further; true when it came to its end. */
  async play(sandbox: Sandbox, script: ParsedScript, argsJson: string | undefined): Promise<boolean> {
    this.#sandbox = sandbox;
    const limits = effectiveLimits(this.#options.limits);
    const nested = new NestedWorkflows(this.#options.findWorkflow, script.fileName, scriptDirectoryOf(this.#directory));
    let searching = 0;
    sandbox.run(
      { fileName: script.fileName, code: script.code, metaJson: JSON.stringify(script.meta), argsJson },
      { ...limits, budgetTotal: null },
      {
        agent: (call) => this.#meet(call),
        workflow: (call) => {
          searching += 1;
          void nested.find(call).then((answer) => {
            searching -= 1;
            sandbox.answerWorkflow(call.id, answer);
          });
        },
        phase: () => {},
        log: () => {},
        partFailed: () => {},
      },
    );
    await sandbox.ready;
    for (let met = -1; met !== this.calls.length || searching > 0; ) {
      met = this.calls.length;
      await sandbox.settled();
      if (met === this.calls.length && searching === 0) this.#decideRest();
    }
    return this.#missing === 0 && (await this.#ends(sandbox));
  }

  /** Nothing is missing: the script has ended, or waits for a timer of its own, which we do not wait for. */
  async #ends(sandbox: Sandbox): Promise<boolean> {
    const clock = this.#options.clock ?? systemClock;
    let timer: TimerHandle | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = clock.after(END_GRACE_MS, () => resolve(false));
    });
    const ended = await Promise.race([sandbox.end.then(() => true), late]);
    timer?.cancel();
    return ended;
  }

  #meet(call: GuestAgentCall): void {
    let options: CallOptions;
    try {
      options = readCallOptions(call.optsJson, this.#schemas);
    } catch (error) {
      if (!(error instanceof CallOptionsError)) throw error;
      this.#sandbox?.answer(
        call.id,
        { ok: false, error: { name: 'TypeError', code: 'AGENT_OPTIONS', message: error.message } },
        0,
      );
      return;
    }
    const place = this.#replay.place(call.prompt, options.canonical, call.scope);
    if (this.#replay.patience(place) !== 'none') this.#undecided.push({ call, options, place });
    else this.#decide(call, options, place);
  }

  #decideRest(): void {
    const undecided = this.#undecided;
    this.#undecided = [];
    for (const { call, options, place } of undecided) this.#decide(call, options, place);
  }

  #decide(call: GuestAgentCall, options: CallOptions, place: CallPlace): void {
    const identity = this.#replay.decide(place);
    const label = options.label ?? call.prompt.replace(/\s+/g, ' ').trim().slice(0, 60);
    const about = { key: identity.key, label, phase: options.phase ?? call.phase, scope: call.scope };
    const { stored } = identity;
    if (stored !== undefined && (options.output?.accepts(stored.resultJson) ?? true)) {
      this.calls.push({ ...about, cached: true });
      const valueJson = options.transform?.(stored.resultJson) ?? stored.resultJson;
      this.#sandbox?.answer(call.id, { ok: true, valueJson }, 0);
      return;
    }
    this.#missing += 1;
    this.calls.push(
      this.#history
        .reason(identity, call, label, stored !== undefined, this.#options.promptOf)
        .then((reason) => ({ ...about, cached: false, reason })),
    );
  }
}

/** What earlier launches left, by key, by place and by label. */
class History {
  readonly #failed = new Map<string, FailedRow['error']>();
  readonly #started = new Set<string>();
  readonly #agentAtPlace = new Map<string, string>();
  readonly #agentByLabel = new Map<string, string>();

  constructor(rows: readonly StoredRow[]) {
    for (const { row } of rows) {
      if (row.type === 'failed') this.#failed.set(row.key, row.error);
      if (row.type === 'result') this.#failed.delete(row.key);
      if (row.type !== 'started') continue;
      this.#started.add(row.key);
      this.#agentAtPlace.set(`${row.scope}#${row.ordinal ?? 0}`, row.agentId);
      this.#agentByLabel.set(row.label, row.agentId);
    }
  }

  async reason(
    identity: CallIdentity,
    call: GuestAgentCall,
    label: string,
    unfit: boolean,
    promptOf: PlanOptions['promptOf'],
  ): Promise<string> {
    if (unfit) return 'its stored answer no longer fits the schema';
    const failure = this.#failed.get(identity.key);
    if (failure !== undefined) return `failed before: ${failure.message} [${failure.code}]`;
    if (this.#started.has(identity.key)) return 'was under way when the run ended';
    const earlier = this.#agentByLabel.get(label) ?? this.#agentAtPlace.get(`${call.scope}#${identity.ordinal}`);
    if (earlier === undefined) return 'never started';
    const prompt = await promptOf?.(earlier);
    if (prompt === undefined) return 'its content is new';
    const at = firstDifference(prompt, call.prompt);
    if (at === undefined) return 'its options changed';
    return at === 1 ? 'never started' : `its prompt differs at character ${at}`;
  }
}

/** Position of the first differing character, from 1; undefined when the texts are equal. */
function firstDifference(a: string, b: string): number | undefined {
  if (a === b) return undefined;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at + 1;
}

function estimate(rows: readonly StoredRow[], count: number): ResumePlan['estimate'] {
  const usages = rows.flatMap(({ row }) => (row.type === 'result' ? [row.usage] : []));
  if (usages.length === 0) return undefined;
  return {
    inputTokens: count * median(usages.map((usage) => usage.input_tokens)),
    outputTokens: count * median(usages.map((usage) => usage.output_tokens)),
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
