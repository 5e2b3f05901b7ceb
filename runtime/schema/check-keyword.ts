import { compileLinearPattern } from './linear-pattern.ts';
import { isSchemaObject, type KeywordShape } from './schema-keywords.ts';
import { UnusableSchemaError } from './unusable-schema-error.ts';

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

/**
 * Checks the value of one keyword. Returns the compiled size of the patterns in it, 0 where there are none.
 *
 * @throws UnusableSchemaError
 */
export function checkKeyword(keyword: string, shape: KeywordShape, value: unknown, place: string): number {
  const expected = fault(shape, value);
  if (expected !== undefined) {
    throw new UnusableSchemaError(
      `\`${keyword}\` at ${place} must be ${expected}, but is ${clip(value)}.${hint(keyword, value)}`,
    );
  }
  if (keyword === 'pattern') return compileLinearPattern(value as string, place).size;
  if (keyword !== 'patternProperties') return 0;
  return Object.keys(value as object).reduce((sum, pattern) => sum + compileLinearPattern(pattern, place).size, 0);
}

/** What the value should have been; undefined when it is right. */
function fault(shape: KeywordShape, value: unknown): string | undefined {
  switch (shape) {
    case 'schema':
    case 'any':
      return undefined; // a schema is checked where it is visited
    case 'schemas':
      return Array.isArray(value) && value.length > 0 ? undefined : 'a list of at least one schema';
    case 'schemaMap':
      return isSchemaObject(value) ? undefined : 'an object of schemas';
    case 'type':
      return isType(value) ? undefined : `one of ${[...TYPES].join(', ')}, or a list of them`;
    case 'number':
      return Number.isFinite(value) ? undefined : 'a number';
    case 'positive':
      return Number.isFinite(value) && (value as number) > 0 ? undefined : 'a number above 0';
    case 'count':
      return Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : 'a whole number, 0 or more';
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'text':
    case 'pattern':
      return typeof value === 'string' ? undefined : 'a string';
    case 'names':
      return isNames(value) ? undefined : 'a list of property names';
    case 'nameLists':
      return isSchemaObject(value) && Object.values(value).every(isNames) ? undefined : 'an object of lists of names';
    case 'values':
      return Array.isArray(value) && value.length > 0 ? undefined : 'a list of at least one value';
  }
}

function isType(value: unknown): boolean {
  if (!Array.isArray(value)) return TYPES.has(value);
  return value.length > 0 && value.every((type) => TYPES.has(type)) && new Set(value).size === value.length;
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function hint(keyword: string, value: unknown): string {
  const misplaced = keyword === 'required' && typeof value === 'boolean';
  return misplaced ? ' List the names of required properties beside `properties`.' : '';
}

function clip(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
