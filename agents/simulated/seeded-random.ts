import { createHash } from 'node:crypto';

/** A repeatable source of chance. */
export interface SeededRandom {
  /** A whole number from 0 to `below` - 1. */
  below(limit: number): number;
  /** True in `percent` of a hundred cases. */
  chance(percent: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** Four hexadecimal digits. */
  mark(): string;
}

/** Gives the same numbers for the same seed, on every machine. Source of the generator: SplitMix32. */
export function createSeededRandom(seed: string): SeededRandom {
  let state = createHash('sha256').update(seed).digest().readUInt32LE();
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let bits = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
    return (bits ^ (bits >>> 15)) >>> 0;
  };
  const below = (limit: number): number => Math.floor((next() / 2 ** 32) * limit);
  return {
    below,
    chance: (percent) => below(100) < percent,
    pick: (choices) => choices[below(choices.length)] as (typeof choices)[number],
    mark: () => below(0x10000).toString(16).padStart(4, '0'),
  };
}
