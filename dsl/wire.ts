/** What crosses the door between guest and host: JSON text of arrays, one batch a turn in each direction. */

/** An error of the guest as data; the runtime's `GuestError`. */
export interface ErrorData {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly stack?: string;
  readonly cause?: ErrorData;
}

/** An error of the host, to be rebuilt in the guest's realm. */
export interface HostErrorData {
  readonly name: 'Error' | 'TypeError' | 'WorkflowError';
  readonly message: string;
  readonly code: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly passesThrough?: boolean;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type HelperName = 'parallel' | 'pipeline';
export type WorkflowRef = { readonly name: string } | { readonly scriptPath: string };

/** Guest to host. Each tuple starts with its kind. */
export type GuestMessage =
  | readonly [
      'agent',
      id: number,
      prompt: string,
      optsJson: string | null,
      scope: string,
      phase: string | null,
      workflow: string | null,
    ]
  | readonly ['workflow', id: number, ref: WorkflowRef, argsJson: string | null, depth: number, callerFile: string]
  /** Asks whether a helper may start so many parts; answered like a call. */
  | readonly ['fan', id: number, helper: HelperName, count: number]
  /** A limit refused something that the guest checks by itself. */
  | readonly ['limit', code: 'LIMIT_ITEMS', message: string]
  | readonly ['phase', title: string, child: boolean]
  | readonly ['log', level: LogLevel, text: string]
  | readonly ['part', helper: HelperName, index: number, stage: number | null, scope: string, error: ErrorData]
  | GuestEnd;

/** The last message of a guest. */
export type GuestEnd =
  | readonly ['returned', valueJson: string | null, warnings: readonly string[]]
  | readonly ['threw', error: ErrorData]
  | readonly ['not-json', path: string, what: string];

/** Host to guest: the answer to a call, and the output tokens spent by then. */
export type HostAnswer =
  | readonly ['ok', id: number, value: unknown, spent: number]
  | readonly ['no', id: number, error: HostErrorData, spent: number | null];

/**
 * What a script's text is given besides the workflow's globals, in the order in which they are passed. Their names are chosen
 * for what an engine says in its messages; a script that uses one of them has it renamed.
 */
export const SCOPE_HOOKS = ['$enter', '$exit', '$leave', 'awaited', '$walk', '$follow'] as const;

/** Log lines kept a run (S-15); one more says that the rest is not. */
export const MAX_LOG_LINES = 1000;
/** Characters kept of a log line (S-15), and some for the note of what was cut. */
export const MAX_LOG_CHARACTERS = 10_000;
/** Parts whose failure is told a run; more are only `null`. */
export const MAX_PART_FAILURES = 10_000;
/** Calls of `phase()` told a run. */
export const MAX_PHASE_CHANGES = 10_000;
/** Refusals at a limit told a run. */
export const MAX_LIMIT_NOTES = 100;
/** Unhandled rejections named at the end of a run. */
export const MAX_REJECTION_WARNINGS = 20;
/** Warnings about a result. */
export const MAX_RESULT_WARNINGS = 20;

/** What `settle` says besides a delay in milliseconds until the next timer. */
export const WAITS_FOR_HOST = -1;
export const HAS_ENDED = -2;
export const IS_STUCK = -3;
