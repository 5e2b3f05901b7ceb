/**
 * What the runtime needs of the world. Adapters (`agents/`, `cache/`, `emitters/`) implement these and import nothing
 * else of `runtime/`.
 */
import type { CoreEvent, CoreEventData, CoreEventType } from '../protocol/core-event.ts';
import type { JournalRow } from '../protocol/journal-row.ts';
import type { RunOutput, RunRecord } from '../protocol/run-record.ts';

// ---------------------------------------------------------------------------------------------------------------- time

export interface TimerHandle {
  cancel(): void;
  /** Lets the process end although this timer waits. Absent where that makes no sense. */
  unref?(): void;
}

/** Time as a port, so that tests own it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls `callback` once, after at least `delayMs`. */
  after(delayMs: number, callback: () => void): TimerHandle;
}

// -------------------------------------------------------------------------------------------------------------- agents

/** Options of one `agent()` call, checked. Absent means not given. */
export interface AgentOptions {
  readonly model?: string;
  readonly effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  readonly isolation?: 'worktree';
  readonly agentType?: string;
  readonly tools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly maxTurns?: number;
}

/** What a StructuredOutput call came to. */
export type AnswerVerdict =
  | { readonly ok: true /** JSON text of the value as the script gets it. */; readonly valueJson: string }
  | {
      readonly ok: false;
      /** What the model is told: each path and what is wrong with it, or where the JSON is broken; bounded. */
      readonly message: string;
      /** One line a fault, bounded. */
      readonly errors: readonly string[];
    };

/** How an agent must answer; made by the runtime from the schema of the call. */
export interface OutputContract {
  /** Input schema of the StructuredOutput tool as a provider accepts it: the root is an object. */
  readonly wireSchema: Readonly<Record<string, unknown>>;
  /**
   * The author's schema, for backends that make an answer up; in normal form: 2020-12, with references to `#` and
   * `#/$defs/<name>` only.
   */
  readonly schema: unknown;
  /** True when the author's root is no object, so that the wire has `{value: …}`. */
  readonly wrapped: boolean;
  /**
   * Judges the raw JSON text of one call's input: parses, unwraps, coerces and validates it. Never throws.
   * With `truncated`, a text that does not parse was cut by the output limit, and the verdict says so.
   */
  judge(rawJson: string, truncated?: boolean): AnswerVerdict;
  /** Whether a stored value, given as the script gets it, still fits the schema. Never throws; coerces nothing. */
  accepts(valueJson: string): boolean;
}

export interface AgentRequest {
  /** `v1:` + 64 hex: the identity of the call, and its idempotency key elsewhere. */
  readonly key: string;
  /** `a` + 16 hex of the key; safe in file names. */
  readonly agentId: string;
  readonly prompt: string;
  readonly label: string;
  readonly phase: string | null;
  readonly options: AgentOptions;
  /** Present when the call has a schema. */
  readonly output: OutputContract | undefined;
  /** Above 1 when an earlier attempt of this agent died: its files may exist. Absent for the first. */
  readonly attempt?: number;
  /**
   * An earlier launch started this key and left no result. A backend that can rejoin looks for that work in flight before
   * it starts anew. Absent when no launch did.
   */
  readonly startedBefore?: true;
  /** StructuredOutput calls an agent may use up, the good one included. */
  readonly maxStructuredOutputRetries: number;
  /** Working directory of the agent; absolute. Inside its worktree, where it has one. */
  readonly cwd: string;
  /** The run that the agent belongs to; absent outside one. */
  readonly run?: AgentRunPlace;
  /** The working copy that {@link cwd} lies in; absent for agents that share the run's directory. */
  readonly worktree?: WorktreePlace;
}

/** Where the records of an agent's run are. */
export interface AgentRunPlace {
  readonly runId: string;
  /** Absolute path of the run's log of events. */
  readonly eventsPath: string;
  /** Absolute path of the agent's transcript; absent when none is written. */
  readonly transcriptPath?: string;
}

export interface AgentUsage {
  /** All of them, those of the provider's cache included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of {@link inputTokens}: read from the provider's cache. Absent for none. */
  readonly cacheReadTokens?: number;
  /** Of {@link inputTokens}: written to that cache. Absent for none. */
  readonly cacheWriteTokens?: number;
  /**
   * What all usage cost that was reported since the last one that said so, this one included, as the backend itself knows
   * it. Absent where it does not: then the price of the model tells.
   */
  readonly costUsd?: number;
}

export interface AgentOutcome {
  /** JSON text of the value: a JSON string for a text answer, the validated value for a structured one. */
  readonly valueJson: string;
  /** True when the answer is an empty text. */
  readonly empty: boolean;
  readonly usage: AgentUsage;
  readonly toolUses: number;
  /** StructuredOutput calls used; 0 without a schema. */
  readonly attempts: number;
}

/** A failure that the same request may survive: 429, 5xx, a lost connection, a cut stream. */
export interface TransientFailure {
  readonly message: string;
  /** HTTP status, where there was one. */
  readonly status?: number;
  /** What the server asked for, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** One row of an agent's transcript. */
export interface TranscriptRow {
  readonly type: 'user' | 'assistant' | 'tool_result' | 'error' | 'note';
  readonly [field: string]: unknown;
}

/** How a backend tells the runtime what its agent does. Nothing here throws, except that {@link retry} rejects. */
export interface AgentReporter {
  /** A sign of life: any byte of a stream, a running tool. Cheap; call it as often as it happens. */
  alive(): void;
  /**
   * Adds to the agent's usage, so that an agent that dies later is still counted.
   *
   * @param model id of the model that used it. Absent: that of the call, or of the backend
   */
  usage(delta: AgentUsage, model?: string): void;
  toolStarted(toolUseId: string, name: string): void;
  /** `exitCode` is that of a command that ended by itself. */
  toolFinished(toolUseId: string, ok: boolean, summary?: string, exitCode?: number): void;
  /** Adds a row to what is kept of the conversation. Absent where nothing is kept, so that no row is built for nothing. */
  readonly transcript?: ((row: TranscriptRow) => void) | undefined;
  /** Resolves when every row given so far is on the disk (H-19). Absent where nothing is kept. Never rejects. */
  transcriptSaved?(): Promise<void>;
  /** Puts a warning into the log of the run, the same text once. */
  warn?(text: string): void;
  /** Knows the secrets of the run: what shortens a text shortens it by this. Absent where there are none. */
  readonly redactor?: Redactor;
  /**
   * Keeps a text of this agent as a file of the run, without secrets; gives its absolute path. Rejects when it cannot be
   * written. Absent where runs keep no files.
   *
   * @param name begins the file's name: letters, digits and dashes
   */
  keepFile?(name: string, text: string): Promise<string>;
  /**
   * Asks to try again after a transient failure. Gives up the agent's slot, waits as long as the failure asks for (or
   * an exponential backoff with jitter), takes a slot again and resolves. Rejects with `AGENT_API` when the retries are
   * used up, `AGENT_QUOTA` when waiting is pointless, or when the agent was aborted; pass that rejection on.
   */
  retry(failure: TransientFailure): Promise<void>;
}

/**
 * Does the work of one agent.
 *
 * Contract:
 * - `run` resolves once, never after `signal` aborts; it rejects only with a WorkflowError of kind `agent` or `cancelled`.
 *   After an abort its sockets, processes and tools are gone within 2 s.
 * - `run` may be called concurrently; the caller limits how many.
 * - A rejection with `AGENT_API`, `AGENT_NO_RESPONSE`, `AGENT_STALLED`, `AGENT_SKIPPED` or `AGENT_GAVE_UP` becomes `null`
 *   for the script, `AGENT_AUTH` and `AGENT_QUOTA` end the run, every other code rejects the call. The error's `data` may hold `lastText`
 *   and `validationErrors`, which the script can read.
 *
 * Replay: recorded. Not called when the journal holds the key.
 */
export interface AgentBackend {
  readonly name: string;
  /** How many agents may run at once unless the user says otherwise (design decision 8). */
  readonly defaultConcurrency: number;
  /** Whether work in flight under a key can be joined after a crash: see {@link AgentRequest.startedBefore}. */
  readonly canRejoin: boolean;
  /** True when no model is behind it, so that every output says so. */
  readonly simulated: boolean;
  /** True when its agents give no sign of life while they work, so that silence is no stall. */
  readonly quiet?: boolean;
  /** The model it uses when a call names none. */
  readonly model: string | undefined;
  /** True when its agents cost money: usage is priced, and every output says what was spent. @defaultValue false */
  readonly costs?: boolean;
  run(request: AgentRequest, signal: AbortSignal, report: AgentReporter): Promise<AgentOutcome>;
  /**
   * Looks at a call before it waits for a slot and before anything is spent.
   *
   * @throws WorkflowError of kind `agent`, for example `AGENT_TYPE_UNKNOWN`; the call is rejected with it
   */
  admit?(options: AgentOptions): void;
  /** Loads what the first agent needs, so that no agent's own time pays for it. Called once; never rejects. */
  warmUp?(): Promise<void>;
  /** Frees what is shared by all agents. Idempotent. */
  close(): Promise<void>;
}

// ----------------------------------------------------------------------------------------------------------- worktrees

/** Where the working copy of one agent is. */
export interface WorktreePlace {
  /** Its root; absolute. */
  readonly path: string;
  readonly branch: string;
  /** An agent of an earlier launch, under the same key, left work in it. Absent for a fresh one. */
  readonly hasEarlierWork?: true;
}

/** A working copy that one agent has for itself. */
export interface Worktree extends WorktreePlace {
  /** Working directory for the agent; absolute. */
  readonly cwd: string;
  /**
   * Removes it with its branch when nothing in it changed. Call it once, when the agent and its tools have ended.
   * Never rejects.
   */
  close(): Promise<WorktreeEnd>;
}

export type WorktreeEnd =
  | { readonly kept: false }
  | {
      readonly kept: true;
      /** Why it is still there, if not for the work in it. */
      readonly problem?: string;
    };

/**
 * Makes working copies for agents that ask for isolation.
 *
 * Contract: may be used by any number of agents and processes at once. What a killed process leaves is found again under
 * the id of its run: by `open` for the same key, by `sweep` for the rest.
 */
export interface Worktrees {
  /** @throws WorkflowError `AGENT_ISOLATION` when none can be made */
  open(wanted: {
    readonly runId: string;
    /** Of the agent. */
    readonly key: string;
    /** Working directory of the run; absolute. */
    readonly cwd: string;
    /** Told what a person should know, once a run. */
    warn(text: string): void;
  }): Promise<Worktree>;
  /** Removes what earlier launches of a run left and nobody worked in. Call it before the first `open`. Never rejects. */
  sweep(left: { readonly runId: string; readonly cwd: string }): Promise<void>;
}

// --------------------------------------------------------------------------------------------------------------- state

/** The readable part of a journal. */
export interface JournalContents {
  readonly rows: readonly StoredRow[];
  /** Said to a person: a torn last line that was dropped, rows moved aside. */
  readonly warnings: readonly string[];
}

/** Takes secrets out of what is stored or shown. Gives back what it was given where there is none. */
export interface Redactor {
  text(text: string): string;
  /** The same for every string and member name inside a JSON value; never changes the value itself. */
  json<T>(value: T): T;
  /**
   * Gives `text.slice(from, to)`, less a secret that an end of it would cut in two: half of one can be found by nobody any
   * more, and is half known.
   */
  slice(text: string, from: number, to: number): string;
  /** Gives how many characters of a text that still grows can be shown: what follows may be the beginning of a secret. */
  settled(text: string): number;
}

/**
 * A stored row; `resultJson` is the exact text of a result's value, so that a cached value equals the fresh one. The
 * `result` of the row itself is left out when it is read back: parse `resultJson` where it is needed.
 */
export interface StoredRow {
  readonly row: JournalRow;
  readonly resultJson?: string;
}

/** A result row without its value, which is given as JSON text. */
export type ResultRowHead = Omit<Extract<JournalRow, { type: 'result' }>, 'result'>;

/**
 * Append-only rows of one run.
 *
 * Contract:
 * - Rows reach the file in the order of the calls, each whole or (the last, after a crash) torn.
 * - `durable()` resolves once every row appended before it is on the disk (fdatasync); calls that come together share one
 *   sync. It rejects with `STATE_UNWRITABLE` when the disk refuses, and so does every later call.
 */
export interface JournalStore {
  append(row: Exclude<JournalRow, { type: 'result' }>): void;
  appendResult(head: ResultRowHead, resultJson: string): void;
  durable(): Promise<void>;
  close(): Promise<void>;
}

/** Takes events after they were persisted. Nothing it does can slow or fail the run (E-3): errors are kept from it. */
export interface EventSink {
  handle(event: CoreEvent): void;
  /** Called after the last event. The run waits for it a bounded time. */
  close?(): Promise<void>;
}

/**
 * The core event log of one run.
 *
 * Contract: `append` gives the event its `seq` and `at` and keeps the order; sinks see an event only after it was written
 * to the file (E-1). `flush` resolves when all appended events were written and handed to the sinks.
 */
export interface EventLog {
  append<T extends CoreEventType>(type: T, data: CoreEventData<T>): void;
  addSink(sink: EventSink): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** `agents/<id>.meta.json`, written when an agent starts. */
export interface AgentMeta {
  readonly key: string;
  readonly agentId: string;
  readonly type: string;
  readonly label: string;
  readonly phase: string | null;
  readonly model: string | null;
  readonly attempt: number;
  /** Path of its working copy; null when it has none of its own. */
  readonly worktree: string | null;
  /** Branch of {@link worktree}. */
  readonly branch?: string;
  readonly startedAt: number;
}

/** Files of the agents of one run. Writes are queued and never throw; `close` rejects with the first failure. */
export interface AgentFiles {
  writeMeta(meta: AgentMeta): void;
  appendTranscript(agentId: string, row: TranscriptRow): void;
  /** Writes a new file `agents/<agentId>/<name>-<unique>.txt`, redacted, and gives its absolute path. Rejects when it cannot. */
  keep?(agentId: string, name: string, text: string): Promise<string>;
  /** Absolute path of an agent's transcript, for those who read it. */
  transcriptPath(agentId: string): string;
  /** Resolves when what was given so far for an agent is on the disk, or cannot be written. Never rejects. */
  saved(agentId: string): Promise<void>;
  close(): Promise<void>;
}

/** A run's place in the state directory, held by one process at a time. */
export interface RunDirectory {
  readonly runId: string;
  /** Absolute path of `runs/<runId>`. */
  readonly path: string;
  readonly record: RunRecord;
  /** Text of `script.js`. */
  readonly scriptText: string;
  /** Text of `args.json`; undefined when the run has no args. */
  readonly argsJson: string | undefined;
  /** What the journal held when the directory was opened. */
  readonly history: JournalContents;
  readonly journal: JournalStore;
  readonly events: EventLog;
  readonly agentFiles: AgentFiles;
  /**
   * Aborts, with a `REPLAY_LEASE_LOST` as its reason, when another process has taken the run over: nothing is stored any
   * more. Absent where that cannot happen.
   */
  readonly leaseLost?: AbortSignal;
  saveRecord(record: RunRecord): Promise<void>;
  saveScript(text: string): Promise<void>;
  saveArgs(argsJson: string | undefined): Promise<void>;
  /** Writes `output.json` from its parts; `resultJson` is the exact text of the result, undefined when there is none. */
  saveOutput(output: Omit<RunOutput, 'result'>, resultJson: string | undefined): Promise<string>;
  /** Closes every file and gives the run free for other processes. Idempotent. */
  close(): Promise<void>;
}

/** Where runs live. Every method rejects with `STATE_UNWRITABLE`, `REPLAY_…` or `FILE_…` codes only. */
export interface RunStore {
  /** Absolute path of the state directory. */
  readonly root: string;
  /** Makes a run with a new id. Fails before anything is paid when the disk is full or read-only (C-9). */
  create(init: {
    readonly record: Omit<RunRecord, 'runId'>;
    readonly scriptText: string;
    readonly argsJson: string | undefined;
  }): Promise<RunDirectory>;
  /**
   * Opens a stored run to go on with it. `salvage` keeps the good rows of a damaged journal; `takeOver` takes it from
   * a process that lives, which can store nothing from then on.
   */
  open(runId: string, options?: { readonly salvage?: boolean; readonly takeOver?: boolean }): Promise<RunDirectory>;
}

// ------------------------------------------------------------------------------------------------------ shared results

/** A result that a run left for others. */
export interface SharedResult {
  /** Exact JSON text of the value, so that a shared value equals the fresh one. */
  readonly valueJson: string;
  /** StructuredOutput calls that it took. */
  readonly attempts: number;
}

/** Where a shared result comes from; for the people who look into the store. */
export interface SharedResultAbout {
  readonly key: string;
  readonly backend: string;
  readonly model: string | null;
}

/**
 * Results that all runs of a machine share. May be used by any number of processes at once.
 *
 * Contract: `get` never rejects; what is damaged or cannot be read is a miss. `put` rejects when nothing was stored.
 */
export interface SharedResults {
  get(id: string): Promise<SharedResult | undefined>;
  put(id: string, result: SharedResult, about: SharedResultAbout): Promise<void>;
}
