import type { SchemaObject } from './merge-schemas.ts';
import type { SeededRandom } from './seeded-random.ts';
import { CannotMakeError, numberOr } from './value-maker.ts';

const LEAST_CHOICES = 100;
const MOST_CHOICES = 1_000;

/**
 * Makes a number within the bounds of a node: small and positive unless they say otherwise.
 *
 * @throws CannotMakeError
 */
export function makeNumber(node: SchemaObject, whole: boolean, random: SeededRandom): number {
  const above = numberOr(node.exclusiveMinimum, -Infinity);
  const below = numberOr(node.exclusiveMaximum, Infinity);
  const least = Math.max(numberOr(node.minimum, -Infinity), above);
  const most = Math.min(numberOr(node.maximum, Infinity), below);
  const step = stepOf(node, whole);
  let low = Math.ceil(start(least, most, step) / step);
  if (low * step <= above) low += 1;
  let high = most === Infinity ? low + LEAST_CHOICES - 1 : Math.floor(most / step);
  if (high * step >= below) high -= 1;
  if (low <= high) return tidy((low + random.below(Math.min(high - low + 1, MOST_CHOICES))) * step);
  if (whole || node.multipleOf !== undefined || least > most)
    throw new CannotMakeError('no number is within its bounds');
  return (least + most) / 2;
}

function stepOf(node: SchemaObject, whole: boolean): number {
  const step = numberOr(node.multipleOf, whole ? 1 : 0.5);
  return whole && !Number.isInteger(step) ? 1 : step;
}

function start(least: number, most: number, step: number): number {
  if (least !== -Infinity) return least;
  return most >= step ? step : most - LEAST_CHOICES * step;
}

/** Takes off what binary fractions add. */
function tidy(number: number): number {
  return Number.isInteger(number) ? number : Number.parseFloat(number.toPrecision(15));
}
