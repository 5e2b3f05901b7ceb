import type { Clock } from '../runtime/ports.ts';

/** Longest delay one Node timer can hold; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The time of the machine, for adapters that were given no clock. */
export const wallClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, LONGEST_TIMER_MS));
    return { cancel: () => clearTimeout(timer) };
  },
};
