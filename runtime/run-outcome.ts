import { ERROR_CODES, type ErrorCode } from '../protocol/error-codes.ts';
import { isWorkflowError, WorkflowError } from '../protocol/workflow-error.ts';
import type { GuestError, SandboxEnd } from './sandbox/sandbox.ts';

/** What became of a run. */
export interface RunOutcome {
  readonly status: 'completed' | 'failed' | 'killed';
  /** Exact JSON text of the result; undefined when there is none. */
  readonly resultJson: string | undefined;
  readonly error: WorkflowError | undefined;
  readonly warnings: readonly string[];
}

/**
 * Reads the outcome off the end of the sandbox.
 *
 * @param stopped why we ended it ourselves, which then decides
 */
export function outcomeOf(end: SandboxEnd, stopped: WorkflowError | undefined): RunOutcome {
  if (stopped !== undefined) return stopped.kind === 'cancelled' ? killed(stopped) : failed(stopped);
  switch (end.type) {
    case 'returned':
      return { status: 'completed', resultJson: end.valueJson, error: undefined, warnings: end.warnings };
    case 'threw':
      return failed(thrown(end.error));
    case 'not-json':
      return failed(notJson(end.path, end.what));
    case 'deadlock':
      return failed(
        new WorkflowError(
          'SCRIPT_DEADLOCK',
          'The script waits for something that can never happen: no agent, workflow or timer is left that could wake it. Look for a promise that nobody resolves, or two that wait for each other.',
        ),
      );
    case 'limit':
      return failed(new WorkflowError(end.code, end.message));
    case 'crashed':
      return failed(
        new WorkflowError(
          'INTERNAL_INVARIANT',
          `The script's process ended in a way it never should: ${end.message} Please report it; what the agents did is kept.`,
        ),
      );
    case 'killed':
      return killed(new WorkflowError('RUN_CANCELLED', 'The run ended early: it was stopped.'));
  }
}

/** What a script that was given no args may have fallen over; undefined when it is nothing of the kind. */
export function missingArgs(end: SandboxEnd, source: string, argsJson: string | undefined): string | undefined {
  if (argsJson !== undefined || end.type !== 'threw' || end.error.name !== 'TypeError') return undefined;
  if (!/\bargs\b/.test(source)) return undefined;
  return 'The script reads `args`, and was given none. Start it anew with --arg NAME=VALUE or --args JSON.';
}

/** A completed run with failed agents fails when the user asked for that (A-19). */
export function failedForAgents(outcome: RunOutcome, agentsFailed: number): RunOutcome {
  if (outcome.status !== 'completed' || agentsFailed === 0) return outcome;
  const agents = agentsFailed === 1 ? '1 agent' : `${agentsFailed} agents`;
  const error = new WorkflowError(
    'AGENTS_FAILED',
    `The script completed, but ${agents} failed and --fail-on-agent-error was given. The failures name each; resume runs only those again.`,
  );
  return { ...outcome, status: 'failed', error };
}

/** Adds to an error that no retry mends how to go on once it is mended (A-20). */
export function withResumeCommand(error: WorkflowError, resume: string): WorkflowError {
  if (error.code !== 'AGENT_AUTH' && error.code !== 'AGENT_QUOTA') return error;
  return new WorkflowError(error.code, `${error.message} When that is mended, resume with: ${resume}`, {
    cause: error,
    ...(error.data === undefined ? {} : { data: error.data }),
  });
}

function failed(error: WorkflowError): RunOutcome {
  return { status: 'failed', resultJson: undefined, error, warnings: [] };
}

function killed(error: WorkflowError): RunOutcome {
  return { status: 'killed', resultJson: undefined, error, warnings: [] };
}

function notJson(path: string, what: string): WorkflowError {
  const where =
    path === '' ? 'The value that the script returned' : `The value at \`${path}\` of what the script returned`;
  return new WorkflowError(
    'SCRIPT_VALUE_NOT_JSON',
    `${where} is ${what}, which JSON cannot hold. Return plain data; what the agents did is kept, so a mended script resumes for free.`,
    { data: { path } },
  );
}

function thrown(error: GuestError): WorkflowError {
  const place = { ...pick(error, 'file'), ...pick(error, 'line'), ...pick(error, 'column') };
  if (error.code !== undefined && isLimit(error.code)) return new WorkflowError(error.code, error.message, { place });
  const code = error.code !== undefined && error.code in ERROR_CODES ? ` [${error.code}]` : '';
  return new WorkflowError('SCRIPT_THREW', `${textOf(error)}${code}${placeOf(error)}`, {
    place,
    data: { name: error.name, ...(error.stack === undefined ? {} : { stack: error.stack }) },
  });
}

function textOf(error: GuestError): string {
  const isError = error.name !== 'string' && error.name !== 'object' && error.name !== 'number';
  const own = isError ? `${error.name}: ${error.message}` : `The script threw ${error.message}`;
  return error.cause === undefined ? own : `${own} (caused by ${textOf(error.cause)})`;
}

function placeOf({ file, line, column }: GuestError): string {
  if (line === undefined) return '';
  return ` at ${file ?? 'script.js'}:${line}${column === undefined ? '' : `:${column}`}`;
}

function pick<K extends 'file' | 'line' | 'column'>(error: GuestError, key: K): Partial<Pick<GuestError, K>> {
  return error[key] === undefined ? {} : ({ [key]: error[key] } as Partial<Pick<GuestError, K>>);
}

function isLimit(code: string): code is ErrorCode {
  return code in ERROR_CODES && ERROR_CODES[code as ErrorCode].kind === 'limit';
}

/** Whatever was thrown, as an error of ours. */
export function asWorkflowError(error: unknown): WorkflowError {
  if (isWorkflowError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new WorkflowError('INTERNAL_INVARIANT', message, { cause: error });
}
