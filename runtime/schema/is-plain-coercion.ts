/**
 * Tells whether a validator's coercion did only what is plain: a text became the number or boolean it spells, or
 * the other way round. A null that became a value, or a value that became null, is not plain.
 */
export function isPlainCoercion(before: unknown, after: unknown): boolean {
  if (typeof before !== 'object' || before === null || typeof after !== 'object' || after === null) {
    return Object.is(before, after) || isTextAndScalar(before, after) || isTextAndScalar(after, before);
  }
  const keys = Object.keys(before);
  return keys.every((key) => isPlainCoercion(Reflect.get(before, key), Reflect.get(after, key)));
}

function isTextAndScalar(text: unknown, scalar: unknown): boolean {
  return typeof text === 'string' && (typeof scalar === 'number' || typeof scalar === 'boolean');
}
