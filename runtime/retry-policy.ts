import type { TransientFailure } from './ports.ts';

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
/** A wait longer than this is no transient failure any more. */
export const LONGEST_RETRY_AFTER_MS = 10 * 60_000;

/**
 * Milliseconds to wait before a retry: what the server asked for and up to a quarter more, else an exponential backoff
 * with full jitter over its upper half. Source: spec A-13.
 *
 * @param retry counts from 1
 * @param random in [0, 1)
 */
export function retryDelayMs(failure: TransientFailure, retry: number, random: number): number {
  if (failure.retryAfterMs !== undefined) return Math.ceil(failure.retryAfterMs * (1 + random / 4));
  const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (retry - 1));
  return Math.ceil(ceiling * (0.5 + random / 2));
}
