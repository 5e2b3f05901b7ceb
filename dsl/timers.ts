import { apply, feralNow } from './primordials.ts';
import { enterFrame, type Frame, fork, restoreFrame } from './scope.ts';

interface Timer {
  readonly id: number;
  readonly dueAtMs: number;
  readonly callback: (...values: unknown[]) => unknown;
  readonly values: readonly unknown[];
  readonly frame: Frame | null;
}

/** `setTimeout` and `clearTimeout` (S-19), and what the door needs of them. */
export interface Timers {
  readonly setTimeout: (callback: unknown, delayMs?: unknown, ...values: unknown[]) => number;
  readonly clearTimeout: (id?: unknown) => void;
  /** Milliseconds until the next timer is due; undefined when there is none. */
  nextDelayMs(): number | undefined;
  /** Runs the first timer that is due, at most one: what it awaits goes before the next. Throws what its callback throws. */
  runDue(): void;
}

const MAX_DELAY_MS = 2 ** 31 - 1;

export function createTimers(): Timers {
  /** Live timers in the order in which they are due. */
  const queue: Timer[] = [];
  let lastId = 0;
  return {
    setTimeout: {
      setTimeout(callback: unknown, delayMs?: unknown, ...values: unknown[]): number {
        if (typeof callback !== 'function') {
          throw new TypeError(
            `setTimeout() takes a function, and got a ${typeof callback}. Write setTimeout(() => { … }, 1000).`,
          );
        }
        const id = ++lastId;
        const delay = Math.min(MAX_DELAY_MS, Math.max(1, Math.trunc(Number(delayMs)) || 0));
        const dueAtMs = feralNow() + delay;
        insert(queue, { id, dueAtMs, callback: callback as Timer['callback'], values, frame: fork('timer') });
        return id;
      },
    }.setTimeout,
    clearTimeout: {
      clearTimeout(id?: unknown): void {
        const at = queue.findIndex((timer) => timer.id === id);
        if (at >= 0) queue.splice(at, 1);
      },
    }.clearTimeout,
    nextDelayMs() {
      const next = queue[0];
      return next === undefined ? undefined : Math.max(0, next.dueAtMs - feralNow());
    },
    runDue() {
      const next = queue[0];
      if (next === undefined || next.dueAtMs > feralNow()) return;
      queue.shift();
      const before = enterFrame(next.frame);
      try {
        apply(next.callback, undefined, next.values);
      } finally {
        restoreFrame(before);
      }
    },
  };
}

/** Keeps the queue sorted by due time, then by age. */
function insert(queue: Timer[], timer: Timer): void {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((queue[middle] as Timer).dueAtMs <= timer.dueAtMs) low = middle + 1;
    else high = middle;
  }
  queue.splice(low, 0, timer);
}
