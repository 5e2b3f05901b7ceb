import type { CoreEvent } from '../../protocol/core-event.ts';
import type { JournalRow } from '../../protocol/journal-row.ts';
import type { WorkflowError } from '../../protocol/workflow-error.ts';
import { effectiveLimits } from '../prepare-run.ts';
import { resumeWorkflow } from '../resume-workflow.ts';
import { spawnSandbox } from '../sandbox/spawn-sandbox.ts';
import { startWorkflow } from '../start-workflow.ts';
import { createMemoryRunStore, type MemoryRunStore } from './memory-run-store.ts';
import { type BrokenPart, type ChooseNext, Pacer } from './pacer.ts';
import type { RehearsalOptions } from './rehearsal.ts';
import { type Fault, type KnownCall, rehearsedBackend } from './rehearsed-backend.ts';
import { REHEARSED_WORKTREES } from './rehearsed-worktrees.ts';

/** One launch of a rehearsal. */
export interface Scene {
  readonly known: Map<string, KnownCall>;
  /** Adds what calls come to to `known`. */
  readonly learn?: boolean;
  readonly choose: ChooseNext;
  readonly fault?: Fault | undefined;
  readonly budget?: number | undefined;
  /** Kills the run once the answer of this call is stored. */
  readonly killAfter?: string | undefined;
  /** Goes on with a run instead of starting one. */
  readonly resume?: { readonly store: MemoryRunStore; readonly runId: string };
}

export interface PlayedCall {
  readonly identity: string;
  /** What is asked, whoever asks it. */
  readonly content: string;
  readonly label: string;
  readonly scope: string;
  /** Output tokens that had been spent when it was made. */
  readonly spentBefore: number;
  /** Answered from the journal. */
  readonly cached: boolean;
}

/** What came of a launch. */
export interface Played {
  readonly status: 'completed' | 'failed' | 'killed';
  /** The result; undefined when there is none. */
  readonly result: unknown;
  readonly error: WorkflowError | undefined;
  readonly calls: readonly PlayedCall[];
  readonly scriptLogs: readonly string[];
  readonly brokenParts: readonly BrokenPart[];
  readonly limitsHit: readonly string[];
  /** Turns in which it answered nothing but refusals by a call that was refused too. */
  readonly stubbornTurns: number;
  readonly mostWaiting: number;
  /** It was ended because it never stopped calling agents that a limit refused. */
  readonly ranAway: boolean;
  readonly run: { readonly store: MemoryRunStore; readonly runId: string };
}

type CallRow = Exclude<JournalRow, { type: 'launched' }>;

/** What a call is, in whatever order calls are made: its content, its place in the script and its count there. */
export function identityOfRow({ content, key, scope, ordinal }: CallRow): string {
  return `${content ?? key} ${scope} ${ordinal ?? 0}`;
}

/** Runs a script once, in memory and with paced answers. */
export async function play(options: RehearsalOptions, scene: Scene): Promise<Played> {
  const stop = new AbortController();
  let ranAway = false;
  const pacer = new Pacer(spawnSandbox(), scene.choose, () => {
    ranAway = true;
    stop.abort();
  });
  const notes = new SceneNotes(pacer, () => stop.abort(), scene.killAfter);
  const store = scene.resume?.store ?? createMemoryRunStore();
  const unlisten = store.listen(notes);
  for (const { row } of scene.resume === undefined ? [] : store.rowsOf(scene.resume.runId)) notes.recall(row);
  const inner = options.makeBackend();
  const standIn = options.makeStandIn?.();
  const { budget = options.limits?.budget ?? null } = scene;
  const limits = effectiveLimits({ ...options.limits, budget, timeoutMs: options.timeoutMs ?? 20_000 });
  const common = {
    ...pick(options, ['fileName', 'scriptPath', 'cwd', 'concurrency', 'findWorkflow', 'schemas']),
    store,
    sandbox: pacer.sandbox,
    worktrees: REHEARSED_WORKTREES,
    backend: rehearsedBackend({
      ...scene,
      inner,
      standIn,
      learn: scene.learn ?? false,
      fault: scene.fault,
      pacer,
      maxRetries: limits.maxRetries,
      identityOf: (key) => notes.identityOf(key),
    }),
    limits,
    signal: options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal]),
    random: () => 0,
  };
  try {
    const handle =
      scene.resume === undefined
        ? await startWorkflow({ ...common, script: options.script, argsJson: options.argsJson })
        : await resumeWorkflow({ ...common, runId: scene.resume.runId });
    const { output, resultJson, error } = await handle.done;
    return {
      status: output.status,
      result: resultJson === undefined ? undefined : JSON.parse(resultJson),
      error,
      calls: notes.calls(),
      scriptLogs: pacer.logs,
      brokenParts: pacer.brokenParts,
      limitsHit: output.limits_hit,
      stubbornTurns: pacer.stubbornTurns.size,
      mostWaiting: pacer.mostWaiting,
      ranAway,
      run: { store, runId: handle.runId },
    };
  } finally {
    unlisten();
    await Promise.all([inner.close(), standIn?.close()]);
  }
}

/** Reads off what a run writes down who its calls are, and when each ends. */
class SceneNotes {
  readonly #pacer: Pacer;
  readonly #kill: () => void;
  readonly #killAfter: string | undefined;
  readonly #rows = new Map<string, CallRow>();
  readonly #asked: { key: string; label: string; scope: string; spentBefore: number; cached: boolean }[] = [];

  constructor(pacer: Pacer, kill: () => void, killAfter: string | undefined) {
    this.#pacer = pacer;
    this.#kill = kill;
    this.#killAfter = killAfter;
  }

  /** Takes over a row of an earlier launch. */
  recall(row: JournalRow): void {
    if (row.type !== 'launched') this.#rows.set(row.key, row);
  }

  onRow(row: JournalRow): void {
    this.recall(row);
    if (row.type === 'result' && identityOfRow(row) === this.#killAfter) this.#kill();
  }

  onEvent({ type, data }: CoreEvent): void {
    if (type === 'agent.finished') this.#pacer.agentEnded(data.key);
    if (type !== 'agent.queued' && type !== 'agent.cached') return;
    const { key, label, scope } = data;
    this.#asked.push({ key, label, scope, spentBefore: this.#pacer.spent, cached: type === 'agent.cached' });
  }

  identityOf(key: string): string {
    const row = this.#rows.get(key);
    return row === undefined ? key : identityOfRow(row);
  }

  /** The calls in their order; those that never began are left out. */
  calls(): readonly PlayedCall[] {
    return this.#asked.flatMap(({ key, ...about }) => {
      const row = this.#rows.get(key);
      return row === undefined ? [] : [{ ...about, identity: identityOfRow(row), content: row.content ?? row.key }];
    });
  }
}

function pick<T extends object, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]])) as Pick<
    T,
    K
  >;
}
