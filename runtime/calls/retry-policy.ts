import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { TransientFailure } from '../ports.ts';

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
/** A server that asks for a longer wait means a quota, which no retry mends. */
export const LONGEST_RETRY_AFTER_MS = 10 * 60_000;

/**
 * Milliseconds to wait before a retry: what the server asked for and up to a quarter more, else an exponential backoff
 * with jitter over its upper half. Source: spec A-13.
 *
 * @param retry counts from 1
 * @param random in [0, 1)
 */
export function retryDelayMs(failure: TransientFailure, retry: number, random: number): number {
  if (failure.retryAfterMs !== undefined) return Math.ceil(failure.retryAfterMs * (1 + random / 4));
  const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (retry - 1));
  return Math.ceil(ceiling * (0.5 + random / 2));
}

/** The server asks for a wait that is too long to be waited out. */
export function quotaError(failure: TransientFailure): WorkflowError {
  const minutes = Math.round((failure.retryAfterMs ?? 0) / 60_000);
  return new WorkflowError(
    'AGENT_QUOTA',
    `The account's limit is reached: ${failure.message} The server asks to wait ${minutes} minutes.`,
    { data: { retryAfterMs: failure.retryAfterMs } },
  );
}

/** The retries are used up. */
export function exhaustedError(failure: TransientFailure, maxRetries: number): WorkflowError {
  const plural = maxRetries === 1 ? 'retry' : 'retries';
  const tries = maxRetries === 0 ? 'No retry is allowed' : `Gave up after ${maxRetries} ${plural}`;
  return new WorkflowError('AGENT_API', `${failure.message} ${tries} (--max-retries).`, {
    data: failure.status === undefined ? {} : { status: failure.status },
  });
}
