import type { Played } from './play.ts';
import type { RehearsalOptions, Variant, VariantKind } from './rehearsal.ts';
import { VARIANT_KINDS } from './rehearsal.ts';
import type { KnownCall } from './rehearsed-backend.ts';
import { sample, seededNumbers } from './seeded-numbers.ts';

export interface VariantPlan {
  readonly variants: readonly Variant[];
  /** Variants that there are and that are too many. */
  readonly leftOut: number;
}

/**
 * Plans what to do to a script: other orders of answers, and each fault at each call that it can befall. When there are
 * too many, the orders stay and a sample is taken of the others.
 */
export function planVariants(
  baseline: Played,
  known: ReadonlyMap<string, KnownCall>,
  { only, orders = 8, maxVariants = 200, seed = 1 }: RehearsalOptions,
): VariantPlan {
  const all = VARIANT_KINDS.flatMap((kind) =>
    numbersOf(kind, baseline, known, orders).map((number) => ({ kind, number })),
  );
  const wanted =
    only === undefined || only.length === 0
      ? all
      : all.filter(({ kind, number }) =>
          only.some((named) => named.kind === kind && (named.number ?? number) === number),
        );
  const [first, rest] = [wanted.filter(isOrder), wanted.filter((variant) => !isOrder(variant))];
  const kept = first.slice(0, maxVariants);
  const variants = [...kept, ...sample(rest, Math.max(0, maxVariants - kept.length), seededNumbers(seed))];
  return { variants, leftOut: wanted.length - variants.length };
}

function isOrder({ kind }: Variant): boolean {
  return kind === 'order';
}

function numbersOf(
  kind: VariantKind,
  { calls, mostWaiting }: Played,
  known: ReadonlyMap<string, KnownCall>,
  orders: number,
): readonly number[] {
  const where = (test: (call: KnownCall, place: number) => boolean): readonly number[] =>
    calls.flatMap(({ identity }, place) => {
      const call = known.get(identity);
      return call !== undefined && test(call, place) ? [place + 1] : [];
    });
  switch (kind) {
    case 'order':
      return mostWaiting < 2 ? [] : Array.from({ length: orders }, (_, place) => place + 1);
    case 'null':
    case 'reject':
      return where(answered);
    case 'bad':
      return where((call) => answered(call) && call.leastJson !== undefined);
    case 'budget': {
      // A budget cannot tell calls apart that were made at one moment, and none can be cut before anything was spent.
      const spent = calls.map(({ spentBefore }) => spentBefore);
      return where((_, place) => (spent[place] ?? 0) > 0 && spent.indexOf(spent[place] ?? 0) === place);
    }
    case 'kill':
      return where(answered);
  }
}

function answered({ end }: KnownCall): boolean {
  return 'outcome' in end;
}
