import type { CoreEvent } from '../protocol/core-event.ts';
import type { Clock, EventSink } from '../runtime/ports.ts';

/** How long the end of a run waits for its sinks. */
const CLOSE_TIMEOUT_MS = 5000;

/** The sinks of one run. A sink that throws is taken off, told of once, and harms nobody else (E-3). */
export class SinkList {
  readonly #clock: Clock;
  readonly #onError: ((error: unknown) => void) | undefined;
  #sinks: readonly EventSink[] = [];

  constructor(clock: Clock, onError?: (error: unknown) => void) {
    this.#clock = clock;
    this.#onError = onError;
  }

  get isEmpty(): boolean {
    return this.#sinks.length === 0;
  }

  add(sink: EventSink): void {
    this.#sinks = [...this.#sinks, sink];
  }

  handle(event: CoreEvent): void {
    for (const sink of this.#sinks) {
      try {
        sink.handle(event);
      } catch (error) {
        this.#sinks = this.#sinks.filter((other) => other !== sink);
        this.#report(error);
      }
    }
  }

  /** Closes the sinks that are left, waiting a bounded time. Never rejects. */
  async close(): Promise<void> {
    const sinks = this.#sinks;
    this.#sinks = [];
    const closing = sinks.map(async (sink) => {
      try {
        await sink.close?.();
      } catch (error) {
        this.#report(error);
      }
    });
    if (closing.length === 0) {
      return;
    }
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.after(CLOSE_TIMEOUT_MS, resolve);
    await Promise.race([Promise.all(closing), late]);
    timer.cancel();
  }

  #report(error: unknown): void {
    try {
      this.#onError?.(error);
    } catch {
      // Whoever listens to broken sinks must not break the run either.
    }
  }
}
