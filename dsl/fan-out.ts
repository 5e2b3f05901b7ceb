import type { Calls } from './calls.ts';
import { makeLimitError } from './host-errors.ts';
import type { Outbox } from './outbox.ts';
import { type HelperName, MAX_LIMIT_NOTES } from './wire.ts';

/** Bounds on what one helper call may start. */
export interface FanOut {
  /** Throws for more items than a helper may take (S-12). */
  check(helper: HelperName, items: number): void;
  /** Asks the host before a helper starts more agents than anybody expects; undefined when there is nothing to ask. */
  ask(helper: HelperName, parts: number): Promise<unknown> | undefined;
}

export function createFanOut(outbox: Outbox, calls: Calls, maxItems: number, confirmAbove: number | null): FanOut {
  let told = 0;
  return {
    check(helper, items) {
      if (items <= maxItems) return;
      const message = `${helper}() was given ${items} items, and takes at most ${maxItems}. Work on them in slices, or raise --max-items.`;
      if (++told <= MAX_LIMIT_NOTES) outbox.push(['limit', 'LIMIT_ITEMS', message]);
      throw makeLimitError('LIMIT_ITEMS', message, true);
    },
    ask(helper, parts) {
      if (confirmAbove === null || parts <= confirmAbove) return undefined;
      return calls.open((id) => outbox.push(['fan', id, helper, parts]));
    },
  };
}
