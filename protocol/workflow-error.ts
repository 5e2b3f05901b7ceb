import { ERROR_CODES, type ErrorCode, type ErrorKind } from './error-codes.ts';

const BRAND = Symbol.for('wf.WorkflowError');

/** Where in a script an error arose. Lines and columns are those of the author's file, from 1. */
export interface ScriptPlace {
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

export interface WorkflowErrorOptions {
  readonly cause?: unknown;
  readonly place?: ScriptPlace;
  /** What a program needs to act on the error; must be JSON. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * The one error class of wf.
 *
 * Contract:
 * - `message` says what happened, with the values, and then what to do; it does not repeat the code.
 * - Recognise it with {@link isWorkflowError} and `code`, never with `instanceof`: errors cross processes as data.
 */
export class WorkflowError extends Error {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly place: ScriptPlace | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly [BRAND] = true;

  constructor(code: ErrorCode, message: string, options: WorkflowErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'WorkflowError';
    this.code = code;
    this.kind = ERROR_CODES[code].kind;
    this.place = options.place;
    this.data = options.data;
  }
}

/** Tells whether a value is a {@link WorkflowError}, also one of another copy of this package. */
export function isWorkflowError(value: unknown): value is WorkflowError {
  return typeof value === 'object' && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
}

/** An error as data: in the journal, in events, in output. */
export interface ErrorRecord {
  readonly code: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** Gives the record of an error; anything that is not a {@link WorkflowError} is `INTERNAL_INVARIANT`. */
export function toErrorRecord(error: unknown): ErrorRecord {
  if (!isWorkflowError(error)) {
    return { code: 'INTERNAL_INVARIANT', message: error instanceof Error ? error.message : String(error) };
  }
  const { line, column } = error.place ?? {};
  return {
    code: error.code,
    message: error.message,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  };
}
