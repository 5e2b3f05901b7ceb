import { makeHostError } from './host-errors.ts';
import { makePromise, whenSettled } from './primordials.ts';
import type { HostAnswer } from './wire.ts';

/** The calls that wait for the host. */
export interface Calls {
  /** Numbers a call, sends it, and gives the promise of its answer. */
  open(send: (id: number) => void): Promise<unknown>;
  /** Settles a call; an id that waits for nothing is ignored. */
  settle(answer: HostAnswer): void;
  /** Settles a call with what `produce` gives or throws. */
  finish(id: number, produce: () => unknown): void;
  readonly waiting: number;
}

type Outcome = HostAnswer | (() => unknown);
type Waiter = (outcome: Outcome) => void;

export function createCalls(): Calls {
  // Indexed by id: an array that is only indexed costs less than a map with methods.
  const waiters: (Waiter | undefined)[] = [undefined];
  let waiting = 0;
  const close = (id: number, outcome: Outcome): void => {
    const waiter = waiters[id];
    if (waiter === undefined) return;
    waiters[id] = undefined;
    waiting--;
    waiter(outcome);
  };
  return {
    open(send) {
      const id = waiters.length;
      const answered = makePromise<Outcome>((resolve) => {
        waiters[id] = resolve;
      });
      waiting++;
      send(id);
      // The error is made in this reaction, not when the answer comes: here the engine knows which async functions
      // wait for it, and puts their lines into its stack.
      return whenSettled(answered, unwrap);
    },
    settle: (answer) => close(answer[1], answer),
    finish: (id, produce) => close(id, produce),
    get waiting() {
      return waiting;
    },
  };
}

function unwrap(outcome: Outcome): unknown {
  if (typeof outcome === 'function') return outcome();
  if (outcome[0] === 'ok') return outcome[2];
  throw makeHostError(outcome[2]);
}
