import pLimit from 'p-limit';

/** Gives a slot back. Calling it again does nothing. */
export type ReleaseSlot = () => void;

type SlotTask = (release: ReleaseSlot) => void;

/** Tasks that may start before the event loop gets its turn. */
const BURST = 64;

/**
 * Bounds how many agents run at once and adapts to the server: halves on a 429, and grows back by one for each full
 * round of successes.
 *
 * Contract: slots are granted in the order asked for, except that an agent that comes back for another attempt goes before
 * those that have not begun. Nothing that waits for anything but an attempt holds one, so nested fan-outs cannot deadlock
 * at any size, 1 included.
 */
export class Slots {
  readonly maximum: number;
  readonly #limit: ReturnType<typeof pLimit>;
  /** Tasks that `#limit` does not know yet: it keeps several promises for each one it knows, and there may be 100,000. */
  #waiting: (SlotTask | undefined)[] = [];
  #next = 0;
  /** Tasks started since the last rest. */
  #burst = 0;
  #resting = false;
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

  /** Runs `task` once a slot is free; it holds the slot until it calls `release`. */
  run(task: SlotTask): void {
    this.#waiting.push(task);
    this.#feed();
  }

  #feed(): void {
    while (this.#next < this.#waiting.length && this.#limit.pendingCount < this.maximum) {
      if (this.#burst === BURST) {
        this.#rest();
        return;
      }
      this.#burst += 1;
      const task = this.#waiting[this.#next] as SlotTask;
      this.#waiting[this.#next] = undefined; // or what it holds would live as long as the queue
      this.#next += 1;
      void this.#limit(() => this.#hold(task));
    }
    if (this.#next < this.#waiting.length) return;
    this.#waiting = [];
    this.#next = 0;
  }

  /** Agents that answer at once would otherwise run one after another in one turn, and nothing be written meanwhile. */
  #rest(): void {
    if (this.#resting) return;
    this.#resting = true;
    setImmediate(() => {
      this.#resting = false;
      this.#burst = 0;
      this.#feed();
    });
  }

  #hold(task: SlotTask): Promise<void> {
    return new Promise((resolve) => {
      task(() => {
        resolve();
        this.#feed();
      });
    });
  }

  /** Resolves with a slot. */
  take(): Promise<ReleaseSlot> {
    return new Promise((granted) => {
      void this.#limit(() => this.#hold(granted));
    });
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
  }
}
