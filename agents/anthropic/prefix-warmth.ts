import type { Clock } from '../../runtime/ports.ts';

/** Providers cache nothing shorter (1,024 tokens of about four characters). */
const SHORTEST_PREFIX = 4_096;
/** A cached prefix is forgotten five minutes after its last use. */
const WARM_MS = 270_000;
/** The longest wait for another agent's first request. */
const LONGEST_WAIT_MS = 3_000;

/** Tells how the request that was let go went: its answer has begun, or it has failed. */
export type Warmed = (began: boolean) => void;

/**
 * Lets one of many like agents that start at once go first, so that the prefix which all of them send is cached when the
 * others ask: they are charged a tenth for it instead of each writing it anew. Source: spec A-25.
 *
 * Contract: only agents whose prefix another one is just sending for the first time wait, until that one's answer begins and
 * three seconds at most. When it fails, the next goes first.
 */
export class PrefixWarmth {
  readonly #clock: Clock;
  /** When each prefix is forgotten. */
  readonly #warmUntilMs = new Map<string, number>();
  readonly #warming = new Map<string, Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a request with this prefix should leave. Rejects only with the reason of an aborted signal. */
  async turnOf(prefix: string, signal: AbortSignal): Promise<Warmed> {
    if (prefix.length < SHORTEST_PREFIX) return ignore;
    const untilMs = this.#clock.now() + LONGEST_WAIT_MS;
    for (;;) {
      if ((this.#warmUntilMs.get(prefix) ?? 0) > this.#clock.now()) return this.#goOn(prefix);
      const warming = this.#warming.get(prefix);
      if (warming === undefined) return this.#goFirst(prefix);
      const waitMs = untilMs - this.#clock.now();
      if (waitMs <= 0) return ignore;
      await this.#within(warming, waitMs, signal);
    }
  }

  #goFirst(prefix: string): Warmed {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#warming.set(prefix, promise);
    return (began) => {
      if (this.#warming.get(prefix) !== promise) return;
      this.#warming.delete(prefix);
      if (began) this.#warmUntilMs.set(prefix, this.#clock.now() + WARM_MS);
      resolve();
    };
  }

  #goOn(prefix: string): Warmed {
    return (began) => {
      if (began) this.#warmUntilMs.set(prefix, this.#clock.now() + WARM_MS);
    };
  }

  async #within(warming: Promise<void>, waitMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => reject(signal.reason);
    const timer = this.#clock.after(waitMs, resolve);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([warming, promise]);
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }
}

function ignore(): void {}
