import pLimit from 'p-limit';

/** Gives a slot back. Calling it again does nothing. */
export type ReleaseSlot = () => void;

type SlotTask<T> = (release: ReleaseSlot, subject: T) => void;

/** A task and what it is about, so that 100,000 that wait need no function each. */
interface Waiting {
  readonly task: SlotTask<never>;
  readonly subject: unknown;
}

/** Tasks that may start before the event loop gets its turn. */
const BURST = 64;

/**
 * Bounds how many agents run at once and adapts to the server: halves on a 429, and grows back by one for each full
 * round of successes.
 *
 * Each slot is one run of `p-limit`, in which a worker does task after task: what waits is a plain queue, since a limiter
 * keeps several promises for each entry, and there may be 100,000.
 *
 * Contract: slots are granted in the order asked for, except that an agent that comes back for another attempt goes before
 * those that have not begun. Nothing that waits for anything but an attempt holds one, so nested fan-outs cannot deadlock
 * at any size, 1 included.
 */
export class Slots {
  readonly maximum: number;
  readonly #limit: ReturnType<typeof pLimit>;
  #waiting: (Waiting | undefined)[] = [];
  #next = 0;
  /** Tasks started since the last rest. */
  #burst = 0;
  /** Workers that wait for the event loop to have its turn. */
  #resting: (() => void)[] = [];
  #successes = 0;
  /** Requests sent before the last shrink say nothing new about the server. */
  #shrunkAtMs = Number.NEGATIVE_INFINITY;

  constructor(maximum: number) {
    this.maximum = maximum;
    this.#limit = pLimit(maximum);
  }

  /** How many may run at once now. */
  get current(): number {
    return this.#limit.concurrency;
  }

  /** Runs `task`, on its subject if it has one, once a slot is free; it holds the slot until it calls `release`. */
  run(task: (release: ReleaseSlot) => void): void;
  run<T>(task: SlotTask<T>, subject: T): void;
  run<T>(task: SlotTask<T>, subject?: T): void {
    this.#waiting.push({ task, subject });
    this.#feed();
  }

  /** Resolves with a slot. */
  take(): Promise<ReleaseSlot> {
    return new Promise((granted) => this.#hold(() => new Promise<void>((release) => granted(release))));
  }

  /** The server asked for fewer: halves, unless the request that failed was sent before the last halving. */
  shrink(requestSentAtMs: number, nowMs: number): void {
    if (requestSentAtMs < this.#shrunkAtMs) return;
    this.#shrunkAtMs = nowMs;
    this.#successes = 0;
    this.#limit.concurrency = Math.max(1, Math.floor(this.current / 2));
  }

  /** An agent finished well. */
  succeeded(): void {
    if (this.current >= this.maximum) return;
    this.#successes += 1;
    if (this.#successes < this.current) return;
    this.#successes = 0;
    this.#limit.concurrency = this.current + 1;
    this.#feed();
  }

  /** Puts workers on what waits, as far as slots are free. */
  #feed(): void {
    const { activeCount, concurrency, pendingCount } = this.#limit;
    const free = concurrency - activeCount - pendingCount;
    for (let left = Math.min(free, this.#waiting.length - this.#next); left > 0; left--) {
      this.#hold(() => this.#work());
    }
  }

  /** Once the limiter counts the slot as free again, somebody must look at what waits. */
  #hold(use: () => Promise<void>): void {
    void this.#limit(use).then(() => this.#feed());
  }

  /** Does task after task in one slot, until there is none, somebody takes the slot again, or there are fewer slots. */
  #work(): Promise<void> {
    return new Promise((leave) => {
      let inTask = false;
      let again = false;
      const step = (): void => {
        again = true;
        if (inTask) return; // the task ended before it returned: the loop below goes on
        while (again) {
          again = false;
          if (this.#burst >= BURST) {
            this.#rest(step);
            return;
          }
          const next = this.#nextTask();
          if (next === undefined) {
            leave();
            return;
          }
          inTask = true;
          next.task(once(step), next.subject as never);
          inTask = false;
        }
      };
      step();
    });
  }

  #nextTask(): Waiting | undefined {
    const { activeCount, concurrency, pendingCount } = this.#limit;
    if (this.#next === this.#waiting.length || pendingCount > 0 || activeCount > concurrency) return undefined;
    const task = this.#waiting[this.#next];
    this.#waiting[this.#next] = undefined; // or what it holds would live as long as the queue
    this.#next += 1;
    this.#burst += 1;
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    }
    return task;
  }

  /** Agents that answer at once would otherwise run one after another in one turn, and nothing be written meanwhile. */
  #rest(resume: () => void): void {
    this.#resting.push(resume);
    if (this.#resting.length > 1) return;
    setImmediate(() => {
      const resting = this.#resting;
      this.#resting = [];
      this.#burst = 0;
      for (const goOn of resting) goOn();
    });
  }
}

function once(callback: () => void): () => void {
  let called = false;
  return () => {
    if (called) return;
    called = true;
    callback();
  };
}
