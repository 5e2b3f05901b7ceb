/** Levels of arrays and objects in JSON from outside. Far above what anybody writes, and below what exhausts a stack. */
export const MAX_JSON_LEVELS = 1_000;

/** Tells whether a JSON value is nested deeper than {@link MAX_JSON_LEVELS}: recursive readers of it would fail. */
export function isNestedTooDeeply(value: unknown): boolean {
  let level = branchesOf([value]);
  for (let levels = 0; level.length > 0; levels++) {
    if (levels >= MAX_JSON_LEVELS) return true;
    level = branchesOf(level.flatMap((one) => (Array.isArray(one) ? one : Object.values(one))));
  }
  return false;
}

function branchesOf(values: readonly unknown[]): readonly object[] {
  return values.filter((value) => typeof value === 'object' && value !== null);
}
