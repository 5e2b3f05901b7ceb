import type { SchemaNode } from './merge-schemas.ts';
import type { SeededRandom } from './seeded-random.ts';

/** What the makers of the single types share while one value is made. */
export interface ValueMaker {
  readonly random: SeededRandom;
  /** From 1; widens choices from try to try. */
  readonly growth: number;
  /** Makes a value for the property or item `name`, `depth` levels below the root. @throws CannotMakeError */
  make(schema: SchemaNode, name: string, depth: number): unknown;
  /** Follows references and settles unions, so that one plain node is left. @throws CannotMakeError */
  resolve(schema: SchemaNode, depth: number): SchemaNode;
}

/** Thrown when no value can be made on this way; another throw of the dice may fare better. */
export class CannotMakeError extends Error {}

/** From here on values are kept as small as the schema allows, so that recursive ones come to an end. */
export const DEEP = 4;
/** Most values that one answer may hold. */
export const MAX_VALUES = 20_000;

export function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
