import { freeze } from './primordials.ts';

export interface Budget {
  readonly total: number | null;
  spent(): number;
  remaining(): number;
}

/** Makes `budget` (S-17). `spent` is what the host last said: it comes with each answer. */
export function createBudget(total: number | null, spentSoFar: () => number): Budget {
  const budget: Budget = {
    total,
    spent() {
      return spentSoFar();
    },
    remaining() {
      return total === null ? Number.POSITIVE_INFINITY : Math.max(0, total - spentSoFar());
    },
  };
  freeze(budget.spent);
  freeze(budget.remaining);
  return freeze(budget);
}
