import { isDeepStrictEqual } from 'node:util';
import type { StoredCall } from './stored-calls.ts';

/** Two runs whose calls are compared. */
export interface ComparedRuns {
  readonly left: readonly StoredCall[];
  readonly right: readonly StoredCall[];
}

/** A call of both runs. */
export interface CallPair {
  readonly left: StoredCall;
  readonly right: StoredCall;
}

export interface RunComparison {
  /** Contents that only one of the runs asked. */
  readonly onlyLeft: readonly StoredCall[];
  readonly onlyRight: readonly StoredCall[];
  /** Calls at one place of the script that ask something else; neither is in the lists above. */
  readonly changed: readonly CallPair[];
  /** The same content with another answer, or with an answer in one run only. */
  readonly otherResults: readonly CallPair[];
  /** The same content under another label. */
  readonly relabelled: readonly CallPair[];
  /** The fewest calls whose place in the order explains that the orders differ. */
  readonly moved: readonly CallPair[];
  /** Calls of the same content. */
  readonly matched: number;
}

/**
 * Compares the calls of two runs by their content; where a content was asked more than once, by its place in the script
 * first and then in order.
 */
export function compareRuns({ left, right }: ComparedRuns): RunComparison {
  const pairs = pairUp(left, right, [(call) => `${call.content} ${placeOf(call)}`, (call) => call.content]);
  const restLeft = without(
    left,
    pairs.map((pair) => pair.left),
  );
  const restRight = without(
    right,
    pairs.map((pair) => pair.right),
  );
  const changed = pairUp(restLeft, restRight, [(call) => `${placeOf(call)} ${call.label}`]);
  return {
    onlyLeft: without(
      restLeft,
      changed.map((pair) => pair.left),
    ),
    onlyRight: without(
      restRight,
      changed.map((pair) => pair.right),
    ),
    changed,
    otherResults: pairs.filter((pair) => !sameResult(pair)),
    relabelled: pairs.filter((pair) => pair.left.label !== pair.right.label),
    moved: movedPairs(pairs, right),
    matched: pairs.length,
  };
}

/** Tells whether nothing differs. */
export function isSameRun(comparison: RunComparison): boolean {
  const { onlyLeft, onlyRight, changed, otherResults, relabelled, moved } = comparison;
  return [onlyLeft, onlyRight, changed, otherResults, relabelled, moved].every(({ length }) => length === 0);
}

function placeOf({ scope, ordinal }: StoredCall): string {
  return `${scope} ${ordinal}`;
}

/** Pairs calls by each property in turn, in the order of the left ones. */
function pairUp(
  left: readonly StoredCall[],
  right: readonly StoredCall[],
  properties: readonly ((call: StoredCall) => string)[],
): readonly CallPair[] {
  const partner = new Map<StoredCall, StoredCall>();
  let restLeft = left;
  let restRight = right;
  for (const property of properties) {
    const free = Map.groupBy(restRight, property);
    for (const call of restLeft) {
      const match = free.get(property(call))?.shift();
      if (match !== undefined) partner.set(call, match);
    }
    const taken = new Set(partner.values());
    restLeft = restLeft.filter((call) => !partner.has(call));
    restRight = restRight.filter((call) => !taken.has(call));
  }
  return left.flatMap((call) => {
    const match = partner.get(call);
    return match === undefined ? [] : [{ left: call, right: match }];
  });
}

function without(calls: readonly StoredCall[], taken: readonly StoredCall[]): readonly StoredCall[] {
  const gone = new Set(taken);
  return calls.filter((call) => !gone.has(call));
}

function sameResult({ left, right }: CallPair): boolean {
  const [a, b] = [left.resultJson, right.resultJson];
  if (a === b) return true;
  return a !== undefined && b !== undefined && isDeepStrictEqual(JSON.parse(a), JSON.parse(b));
}

/** All pairs but those of a longest run whose order is the same on both sides. */
function movedPairs(pairs: readonly CallPair[], right: readonly StoredCall[]): readonly CallPair[] {
  const placeOnRight = new Map(right.map((call, place) => [call, place]));
  const places = pairs.map((pair) => placeOnRight.get(pair.right) ?? 0);
  const kept = new Set(longestRise(places));
  return pairs.filter((_, at) => !kept.has(at));
}

/** Indices of a longest rising subsequence. Source: patience sorting, with a link to each item's predecessor. */
function longestRise(values: readonly number[]): readonly number[] {
  const tails: number[] = [];
  const before: (number | undefined)[] = [];
  values.forEach((value, at) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[tails[middle] as number] as number) < value) low = middle + 1;
      else high = middle;
    }
    before[at] = tails[low - 1];
    tails[low] = at;
  });
  const found: number[] = [];
  for (let at = tails.at(-1); at !== undefined; at = before[at]) found.push(at);
  return found.reverse();
}
