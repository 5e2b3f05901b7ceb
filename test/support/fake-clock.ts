import type { Clock, TimerHandle } from '../../runtime/ports.ts';

/** A clock that stands still until it is told to go on. */
export class FakeClock implements Clock {
  #now: number;
  #timers: { readonly atMs: number; readonly callback: () => void }[] = [];

  constructor(startMs = 1_000_000) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): TimerHandle {
    const timer = { atMs: this.#now + delayMs, callback };
    this.#timers.push(timer);
    return { cancel: () => this.#drop(timer) };
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Goes on by so many milliseconds, firing what falls due in order, with the microtasks of each before the next. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (;;) {
      const [next] = this.#timers.filter(({ atMs }) => atMs <= until).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#drop(next);
      this.#now = Math.max(this.#now, next.atMs);
      next.callback();
      await settle();
    }
    this.#now = until;
  }

  #drop(timer: object): void {
    this.#timers = this.#timers.filter((other) => other !== timer);
  }
}

/** Lets everything run that only waits for promises. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}
