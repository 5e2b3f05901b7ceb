/** Gives whole numbers below a limit, the same ones for the same seed on every machine. */
export type SeededNumbers = (limit: number) => number;

/** Source of the generator: SplitMix32. */
export function seededNumbers(seed: number): SeededNumbers {
  let state = Math.imul(seed, 0x9e3779b1) | 0;
  return (limit) => {
    state = (state + 0x9e3779b9) | 0;
    let bits = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
    return Math.floor((((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32) * limit);
  };
}

/** Takes `count` of the items, in their old order. */
export function sample<T>(items: readonly T[], count: number, numbers: SeededNumbers): readonly T[] {
  const places = items.map((_, place) => place);
  for (let last = places.length - 1; last > 0; last -= 1) {
    const other = numbers(last + 1);
    [places[last], places[other]] = [places[other] as number, places[last] as number];
  }
  return places
    .slice(0, count)
    .sort((a, b) => a - b)
    .map((place) => items[place] as T);
}
