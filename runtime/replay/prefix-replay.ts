import { callKey } from '../calls/call-key.ts';
import type { CallIdentity, CallPlace, Patience, Replay, ReplayIndex } from './replay-index.ts';

/**
 * Answers from the journal only up to the first call, in call order, that has no result: that one and all later ones run.
 * For agents whose side effects build on one another. Source: spec R-9.
 */
export class PrefixReplay implements Replay {
  readonly #stored: ReplayIndex;
  readonly #onBreak: (finishedCalls: number) => void;
  /** Occurrences given in this launch, a content each. */
  readonly #given = new Map<string, Set<number>>();
  #broken = false;

  /** @param onBreak told, before any call runs, how many finished calls will run again if the script makes them */
  constructor(stored: ReplayIndex, onBreak: (finishedCalls: number) => void) {
    this.#stored = stored;
    this.#onBreak = onBreak;
  }

  knows(content: string): boolean {
    return this.#stored.knows(content);
  }

  wasStarted(key: string): boolean {
    return this.#stored.wasStarted(key);
  }

  place(prompt: string, canonicalOptions: string, scope: string): CallPlace {
    return this.#stored.place(prompt, canonicalOptions, scope);
  }

  patience(): Patience {
    return 'none';
  }

  decide(place: CallPlace): CallIdentity {
    if (!this.#broken) {
      const identity = this.#stored.decide(place);
      if (identity.stored !== undefined) {
        this.#occurrencesOf(place.content).add(identity.occurrence);
        return identity;
      }
      this.#broken = true;
      this.#onBreak(this.#stored.untaken);
    }
    return this.#live(place);
  }

  #live({ prompt, canonicalOptions, content, ordinal }: CallPlace): CallIdentity {
    const given = this.#occurrencesOf(content);
    let occurrence = 0;
    while (given.has(occurrence)) occurrence += 1;
    given.add(occurrence);
    const key = occurrence === 0 ? content : callKey(prompt, canonicalOptions, occurrence);
    return { key, content, occurrence, ordinal, stored: undefined };
  }

  #occurrencesOf(content: string): Set<number> {
    let given = this.#given.get(content);
    if (given === undefined) {
      given = new Set();
      this.#given.set(content, given);
    }
    return given;
  }
}
