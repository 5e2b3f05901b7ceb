import { defineProperty } from './primordials.ts';
import { refusal } from './refusal.ts';

/** Takes chance out of `Math` (S-20). */
export function tameMath(): void {
  const statics = {
    random(): never {
      throw refusal('Math.random()', 'random numbers');
    },
  };
  defineProperty(Math, 'random', { value: statics.random, writable: true, configurable: true });
}
