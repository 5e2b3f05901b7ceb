/**
 * Counts the work of one validation, so that no pair of schema and answer can hang the host. The unit is about one
 * schema node applied to one value. One meter serves the process, since validation is synchronous.
 */
const meter = { left: 0 };

/** Thrown by {@link spendWork}; never an answer's fault alone, so it is told apart from an invalid answer. */
export class WorkExhaustedError extends Error {}

export function allowWork(units: number): void {
  meter.left = units;
}

/** @throws WorkExhaustedError once more was spent than allowed. */
export function spendWork(units: number): void {
  meter.left -= units;
  if (meter.left < 0) throw new WorkExhaustedError('the work allowed for one validation is used up');
}
