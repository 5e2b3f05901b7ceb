import type { RunOutput } from '../protocol/run-record.ts';
import type { WorkflowError } from '../protocol/workflow-error.ts';
import type { CallPolicy } from './calls/call-policy.ts';
import type { PriceTable } from './costs/price-table.ts';
import type { AgentBackend, Clock, EventSink, RunStore, SharedResults, Worktrees } from './ports.ts';
import type { ImportedCall } from './replay/imported-results.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

/** Bounds of one run. None of them is part of a call's key, so each may be changed on resume. */
export interface RunLimits {
  /** Agents a run, nested workflows included. @defaultValue 1000 */
  readonly maxAgents: number;
  /** Items that one `parallel` or `pipeline` may take. @defaultValue 4096 */
  readonly maxItems: number;
  /** Levels of nested workflows. @defaultValue 1 */
  readonly maxDepth: number;
  /** Retries of one agent after transient failures. @defaultValue 5 */
  readonly maxRetries: number;
  /** StructuredOutput calls one agent may use. @defaultValue 5 */
  readonly maxStructuredOutputRetries: number;
  /** Memory of the script in MiB. @defaultValue 256 */
  readonly memoryLimitMb: number;
  /** CPU time of the script without yielding, in milliseconds. @defaultValue 30000 */
  readonly cpuLimitMs: number;
  /** Wall time of the run in milliseconds; null for none. @defaultValue null */
  readonly timeoutMs: number | null;
  /** Output tokens of the run; null for none. @defaultValue null */
  readonly budget: number | null;
  /** US dollars of the run; null for none. Cached answers cost nothing. @defaultValue null */
  readonly budgetUsd: number | null;
}

export const DEFAULT_LIMITS: RunLimits = {
  maxAgents: 1000,
  maxItems: 4096,
  maxDepth: 1,
  maxRetries: 5,
  maxStructuredOutputRetries: 5,
  memoryLimitMb: 256,
  cpuLimitMs: 30_000,
  timeoutMs: null,
  budget: null,
  budgetUsd: null,
};

/** A fan-out that is larger than anybody said it would be. */
export interface FanOutRequest {
  readonly helper: 'parallel' | 'pipeline';
  /** Agents it would start if each part starts one. */
  readonly agents: number;
  /** Tokens they would use, from the agents that have finished in this run; undefined before the first has. */
  readonly tokens: number | undefined;
}

/** A nested workflow, found. */
export interface FoundWorkflow {
  readonly text: string;
  readonly fileName: string;
  /** Absolute path of the file. */
  readonly path: string;
}

/** What starting and resuming have in common. */
export interface WorkflowOptions {
  readonly store: RunStore;
  readonly backend: AgentBackend;
  /** Working directory of the agents; absolute. @defaultValue the stored one on resume, else the process's */
  readonly cwd?: string;
  /** Agents at a time, 1–256. @defaultValue the backend's own */
  readonly concurrency?: number;
  readonly limits?: Partial<RunLimits>;
  readonly sinks?: readonly EventSink[];
  /** Aborting ends the run as `killed`; the journal stays resumable. */
  readonly signal?: AbortSignal;
  /** A completed run with failed agents ends `failed` with `AGENTS_FAILED`. @defaultValue false */
  readonly failOnAgentError?: boolean;
  /**
   * The command that resumes this run, as a shell takes it. `limitsHit` are the limits that the run met, so that the command
   * can raise them. @defaultValue `wf resume <runId>`
   */
  readonly resumeCommand?: (runId: string, limitsHit: readonly WorkflowError[]) => string;
  /** Finds a nested workflow; rejects with `WORKFLOW_UNKNOWN` or a `FILE_…` code. @defaultValue only `{scriptPath}` works */
  readonly findWorkflow?: (
    ref: { readonly name: string } | { readonly scriptPath: string },
    callerDirectory: string,
  ) => Promise<FoundWorkflow>;
  /** Makes working copies for agents with `isolation: 'worktree'`. @defaultValue none, and such agents are refused */
  readonly worktrees?: Worktrees;
  /** Results that runs share: looked up before an agent starts, and added to. @defaultValue none */
  readonly sharedResults?: SharedResults;
  /** Recorded answers of another program's run, in the order of its calls. @defaultValue none */
  readonly importedCalls?: readonly ImportedCall[];
  /** Agents at a time of a class below the cap: calls join one with `opts.lane`. */
  readonly lanes?: Readonly<Record<string, number>>;
  /** Parts of one `parallel` or `pipeline` above which {@link confirmFanOut} is asked first. @defaultValue never */
  readonly confirmAbove?: number;
  /** Says whether a large fan-out may start. @defaultValue it may not, and the helper rejects with `LIMIT_AGENT_COUNT` */
  readonly confirmFanOut?: (request: FanOutRequest) => boolean | Promise<boolean>;
  /** Judges each call before it costs anything. */
  readonly policy?: CallPolicy;
  /** Schemas that scripts may use by name, `agent(prompt, { schema: 'Name' })`: JSON Schemas or Zod schemas, 3 or 4. */
  readonly schemas?: Readonly<Record<string, unknown>>;
  /** Values that must not appear in any event, log or transcript. */
  readonly secrets?: readonly string[];
  /** Something a person should know that is no error: an edited script, other args, a torn journal line. */
  readonly onNotice?: (text: string) => void;
  readonly toolUseId?: string;
  /** Options a later resume takes over, stored in `run.json`; no secrets. */
  readonly storedOptions?: Readonly<Record<string, unknown>>;
  /** Writes `agents/<id>.jsonl` and `.meta.json`. @defaultValue true */
  readonly transcripts?: boolean;
  /** What models cost. @defaultValue the prices of `runtime/costs/model-prices.ts` */
  readonly prices?: PriceTable;
  readonly clock?: Clock;
  /** Source of jitter in [0, 1). @defaultValue Math.random */
  readonly random?: () => number;
  /** A sandbox process that was started early. @defaultValue one is started */
  readonly sandbox?: Sandbox;
}

export interface StartOptions extends WorkflowOptions {
  /** The author's text. */
  readonly script: string;
  /** Name shown in positions; `.ts` strips types. @defaultValue base name of `scriptPath`, else `script.js` */
  readonly fileName?: string;
  /** Absolute path of the author's file. */
  readonly scriptPath?: string;
  /** JSON text; undefined when there are none. */
  readonly argsJson?: string | undefined;
}

export interface ResumeOptions extends WorkflowOptions {
  readonly runId: string;
  /** An edited script. @defaultValue the stored one */
  readonly script?: string;
  readonly fileName?: string;
  readonly scriptPath?: string;
  /** Other args as JSON text. @defaultValue the stored ones */
  readonly argsJson?: string | undefined;
  /**
   * `content` answers every call that has a stored result; `prefix` only those before the first, in call order, that has
   * none. @defaultValue content
   */
  readonly resumePolicy?: 'content' | 'prefix';
  /** Keeps the good rows of a damaged journal and moves the others to `journal.rejected`. */
  readonly salvage?: boolean;
  /**
   * Takes the run from a process that still holds it, such as one that hangs: that one can store nothing from then on, and
   * ends with `REPLAY_LEASE_LOST`. Its agents that have not ended are paid for twice.
   */
  readonly takeOver?: boolean;
}

export interface RunResult {
  readonly runId: string;
  readonly output: Omit<RunOutput, 'result'>;
  /** Exact JSON text of the result; undefined when there is none. */
  readonly resultJson: string | undefined;
  /** Why the run did not complete. */
  readonly error: WorkflowError | undefined;
  /** Absolute path of `output.json`. */
  readonly outputFile: string;
}

/** A run under way. */
export interface RunHandle {
  readonly runId: string;
  /** Absolute path of `runs/<runId>`. */
  readonly directory: string;
  /** Resolves at the end, also of a failed or killed run; rejects only when the state can no longer be written. */
  readonly done: Promise<RunResult>;
  /** Ends the run as `killed`. Idempotent. `reason` shows in the error. */
  stop(reason?: string): void;
}
