import type { Clock, TimerHandle } from '../ports.ts';

/** Something that should show signs of life. */
export interface Watched {
  /** Epoch ms of its last sign of life; Infinity while it has a reason to be quiet. */
  readonly lastAliveAtMs: number;
  readonly stallMs: number;
  onStall(): void;
}

const LONGEST_TICK_MS = 5_000;
const SHORTEST_TICK_MS = 50;

/** Looks after all agents of a run with one timer, and tells each that was quiet for too long. */
export class StallWatch {
  readonly #clock: Clock;
  readonly #watched = new Set<Watched>();
  #timer: TimerHandle | undefined;
  #tickMs = LONGEST_TICK_MS;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(watched: Watched): void {
    this.#watched.add(watched);
    if (this.#timer === undefined) this.#arm(tickOf(watched));
    else if (tickOf(watched) < this.#tickMs) this.#rearm();
  }

  /** The timer goes on until it finds nobody to watch: agents come and go far faster than it ticks. */
  remove(watched: Watched): void {
    this.#watched.delete(watched);
  }

  close(): void {
    this.#watched.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #rearm(): void {
    this.#timer?.cancel();
    let shortest = LONGEST_TICK_MS;
    for (const watched of this.#watched) shortest = Math.min(shortest, tickOf(watched));
    this.#arm(shortest);
  }

  #arm(tickMs: number): void {
    this.#tickMs = tickMs;
    this.#timer = this.#clock.after(tickMs, () => this.#tick());
  }

  #tick(): void {
    const now = this.#clock.now();
    for (const watched of [...this.#watched]) {
      if (now - watched.lastAliveAtMs >= watched.stallMs) watched.onStall();
    }
    this.#timer = undefined;
    if (this.#watched.size > 0) this.#rearm();
  }
}

/** Often enough to notice a stall at most a quarter late. */
function tickOf({ stallMs }: Watched): number {
  return Math.min(LONGEST_TICK_MS, Math.max(SHORTEST_TICK_MS, Math.ceil(stallMs / 4)));
}
