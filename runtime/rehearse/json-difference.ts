import { isDeepStrictEqual } from 'node:util';

/** The first place at which two JSON values differ. */
export interface JsonDifference {
  /** As in `first.second[1]`; empty for the values themselves. */
  readonly path: string;
  /** JSON text; undefined when there is nothing at the place. */
  readonly left: string | undefined;
  readonly right: string | undefined;
}

/** Finds the first difference of two JSON values in the order of the left one; the order of members does not count. */
export function firstDifference(left: unknown, right: unknown, path = ''): JsonDifference | undefined {
  if (isDeepStrictEqual(left, right)) return undefined;
  if (Array.isArray(left) && Array.isArray(right)) {
    const places = Array.from({ length: Math.max(left.length, right.length) }, (_, place) => place);
    return firstOf(places, (place) => firstDifference(left[place], right[place], `${path}[${place}]`));
  }
  if (isObject(left) && isObject(right)) {
    const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    return firstOf(names, (name) => firstDifference(left[name], right[name], memberPath(path, name)));
  }
  return { path, left: textOf(left), right: textOf(right) };
}

/**
 * Tells whether a value says nothing that the whole does not say: some items, members or lines of text are missing, and
 * nothing was added or put in their place.
 */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (isDeepStrictEqual(part, whole)) return true;
  if (typeof part === 'string' && typeof whole === 'string') return isSequenceIn(part.split('\n'), whole.split('\n'));
  if (Array.isArray(part) && Array.isArray(whole)) return isSequenceIn(part, whole);
  if (!isObject(part) || !isObject(whole)) return false;
  return Object.entries(part).every(([name, value]) => Object.hasOwn(whole, name) && isPartOf(value, whole[name]));
}

/** Says in a few words what a part lacks of the whole. Source of the part: {@link isPartOf}. */
export function describeLack(part: unknown, whole: unknown, path = ''): string {
  const name = path === '' ? 'the result' : path;
  if (Array.isArray(part) && Array.isArray(whole)) {
    if (part.length < whole.length) return `${name} has ${part.length} of ${whole.length} items`;
    const at = part.findIndex((item, place) => !isDeepStrictEqual(item, whole[place]));
    return describeLack(part[at], whole[at], `${path}[${at}]`);
  }
  if (isObject(part) && isObject(whole)) {
    const names = Object.keys(whole).filter((key) => !isDeepStrictEqual(part[key], whole[key]));
    const lost = names.find((key) => !Object.hasOwn(part, key));
    if (lost !== undefined) return `${memberPath(path, lost)} is absent`;
    const [changed = ''] = names;
    return describeLack(part[changed], whole[changed], memberPath(path, changed));
  }
  return `${name} lacks lines`;
}

function isSequenceIn(part: readonly unknown[], whole: readonly unknown[]): boolean {
  let next = 0;
  for (const item of whole) {
    if (next < part.length && (typeof item === 'string' ? item === part[next] : isPartOf(part[next], item))) next += 1;
  }
  return next === part.length;
}

function firstOf<T>(places: readonly T[], find: (place: T) => JsonDifference | undefined): JsonDifference | undefined {
  for (const place of places) {
    const found = find(place);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function memberPath(path: string, name: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
