/** What the runtime sees of a sandbox: one isolate in a process of its own, running one script and its nested workflows. */

/** An error of the guest as data. Lines and columns are those of the author's file. */
export interface GuestError {
  /** `Error`'s name; for a thrown non-error, `typeof` it. */
  readonly name: string;
  /** The message; for a thrown string or object, its full text. */
  readonly message: string;
  /** Set when the script threw (or passed on) an error that the runtime had given it. */
  readonly code?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** Stack with author positions only. */
  readonly stack?: string;
  readonly cause?: GuestError;
}

/** A script as the sandbox compiles it; see `runtime/script/parse-script.ts`. */
export interface SandboxProgram {
  /** Name shown in positions. */
  readonly fileName: string;
  /** An expression of a function that takes the workflow's globals; compiled with its first line at line 0. */
  readonly code: string;
  readonly metaJson: string;
  /** JSON text; undefined when there are no args. */
  readonly argsJson: string | undefined;
}

export interface SandboxOptions {
  readonly memoryLimitMb: number;
  /** CPU time without yielding, in milliseconds. */
  readonly cpuLimitMs: number;
  /** Items that one `parallel` or `pipeline` may take. */
  readonly maxItems: number;
  /** Parts of one helper call above which `fanOut` is asked. @defaultValue it is never asked */
  readonly confirmAbove?: number;
  /** Output tokens, null without a budget. */
  readonly budgetTotal: number | null;
  /** Nested `workflow()` levels; 1 = a workflow may call another, which may not. */
  readonly maxDepth: number;
}

export interface GuestAgentCall {
  readonly id: number;
  /** Already text; well-formed Unicode (S-33), never blank. */
  readonly prompt: string;
  /** `JSON.stringify` of the options; undefined when none were given. */
  readonly optsJson: string | undefined;
  readonly scope: string;
  /** Title of the phase current at the call; null before any. `opts.phase` is not applied yet. */
  readonly phase: string | null;
  /** Name of the nested workflow that calls; null in the script itself. */
  readonly workflow: string | null;
}

export interface GuestWorkflowCall {
  readonly id: number;
  readonly ref: { readonly name: string } | { readonly scriptPath: string };
  readonly argsJson: string | undefined;
  /** 1 for a call made by the script itself. */
  readonly depth: number;
  /** File of the calling workflow, for relative paths. */
  readonly callerFile: string;
}

/** What the sandbox asks of, and tells, the runtime. Handlers are called in the order in which the script acted; none may throw. */
export interface SandboxHandlers {
  agent(call: GuestAgentCall): void;
  workflow(call: GuestWorkflowCall): void;
  /** A helper wants to start more parts than `confirmAbove`; the answer is that of a call. */
  fanOut?(request: { readonly id: number; readonly helper: 'parallel' | 'pipeline'; readonly count: number }): void;
  /** The sandbox refused something at a limit of its own. */
  limit?(code: 'LIMIT_ITEMS', message: string): void;
  phase(title: string, kind?: 'child'): void;
  log(level: 'debug' | 'info' | 'warn' | 'error', text: string): void;
  /** A thunk or stage threw something that was not an agent's own failure. */
  partFailed(part: {
    readonly helper: 'parallel' | 'pipeline';
    readonly index: number;
    readonly stage?: number;
    readonly scope: string;
    readonly error: GuestError;
  }): void;
}

/** An error to be rebuilt as a guest error. `name` `TypeError` makes a TypeError of the guest's realm. */
export interface ErrorForGuest {
  readonly name: 'Error' | 'TypeError' | 'WorkflowError';
  readonly message: string;
  readonly code: string;
  /** Copied onto the guest error, a member each. JSON. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** True for limits: the error passes through `parallel` and `pipeline` (S-13). */
  readonly passesThrough?: boolean;
}

export type SandboxAnswer =
  | { readonly ok: true /** JSON text. */; readonly valueJson: string }
  | { readonly ok: false; readonly error: ErrorForGuest };

export type SandboxEnd =
  | {
      readonly type: 'returned' /** JSON text; undefined when nothing was returned. */;
      readonly valueJson: string | undefined;
      readonly warnings: readonly string[];
    }
  | { readonly type: 'threw'; readonly error: GuestError }
  /** The value is not JSON; `path` like `first.second[1]`, '' for the value itself. */
  | { readonly type: 'not-json'; readonly path: string; readonly what: string }
  | { readonly type: 'deadlock' }
  | { readonly type: 'limit'; readonly code: 'LIMIT_CPU' | 'LIMIT_MEMORY'; readonly message: string }
  /** The process died or spoke nonsense. */
  | { readonly type: 'crashed'; readonly message: string }
  | { readonly type: 'killed' };

/**
 * A sandbox process.
 *
 * Contract:
 * - The process starts at construction, before a program is known; `run` is called once.
 * - `end` resolves once and never rejects; afterwards no handler is called and answers are dropped.
 * - `kill` ends the process at once (SIGKILL) and is idempotent.
 * - Nothing the process sends is trusted: unknown ids, malformed batches and oversized messages end it as `crashed`.
 */
export interface Sandbox {
  readonly end: Promise<SandboxEnd>;
  run(program: SandboxProgram, options: SandboxOptions, handlers: SandboxHandlers): void;
  /** Resolves when the isolate has been made and the program is about to run. */
  readonly ready: Promise<void>;
  /** Answers a call. `spent` is the run's output tokens so far. Answers of one turn cross together. */
  answer(id: number, answer: SandboxAnswer, spent: number): void;
  /** Answers a workflow call: the sandbox compiles and runs the program, and settles the guest's promise itself. */
  answerWorkflow(
    id: number,
    answer:
      | { readonly ok: true; readonly program: SandboxProgram; readonly name: string }
      | { readonly ok: false; readonly error: ErrorForGuest },
  ): void;
  kill(): void;
  /**
   * Resolves when the script has done all that the answers given so far let it do, and has said so; at its end at once.
   * Call it after `ready`. Lets a rehearsal decide which answer comes next.
   */
  settled(): Promise<void>;
  /** Process id, for tests and `wf doctor`. */
  readonly pid: number | undefined;
}
