import { isArray, stringifyJson } from './primordials.ts';
import { MAX_RESULT_WARNINGS } from './wire.ts';

export type ResultJson =
  | { readonly ok: true; readonly json: string | undefined; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly path: string; readonly what: string };

interface Walk {
  readonly warnings: string[];
  readonly above: object[];
}

/** Thrown inside this file when the value is not JSON. */
class NotJson {
  readonly path: string;
  readonly what: string;
  constructor(path: string, what: string) {
    this.path = path;
    this.what = what;
  }
}

/**
 * Writes what a script returned as JSON (S-28): like `JSON.stringify`, but nothing is lost in silence, and Map and Set
 * become what a reader expects.
 */
export function toResultJson(value: unknown): ResultJson {
  const walk: Walk = { warnings: [], above: [] };
  try {
    if (typeof value === 'function' || typeof value === 'symbol') throw new NotJson('', `a ${typeof value}`);
    return { ok: true, json: write(value, '', '', walk), warnings: walk.warnings };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, path: error.path, what: error.what };
    if (error instanceof RangeError)
      return { ok: false, path: '', what: 'a value that is nested too deeply or too large' };
    throw error;
  }
}

/** JSON text of a value; undefined for what JSON leaves out. */
function write(given: unknown, key: string, path: string, walk: Walk): string | undefined {
  const value = unboxed(withToJson(given, key, path));
  switch (typeof value) {
    case 'string':
      return stringifyJson(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (Number.isFinite(value)) return stringifyJson(value);
      warn(walk, `${value} at ${shown(path)} became null`);
      return 'null';
    case 'bigint':
      throw new NotJson(path, 'a BigInt');
    case 'function':
    case 'symbol':
      warn(walk, `A ${typeof value} at ${shown(path)} was left out`);
      return undefined;
    case 'object':
      return value === null ? 'null' : writeObject(value, path, walk);
    default:
      return undefined;
  }
}

function writeObject(value: object, path: string, walk: Walk): string {
  if (walk.above.includes(value)) throw new NotJson(path, 'a cycle');
  walk.above.push(value);
  let json: string;
  if (isArray(value)) json = writeList(value, path, walk);
  else if (value instanceof Set) json = writeSet(value, path, walk);
  else if (value instanceof Map) json = writeMap(value, path, walk);
  else json = writeFields(value, path, walk);
  walk.above.pop();
  return json;
}

function writeList(list: readonly unknown[], path: string, walk: Walk): string {
  let json = '[';
  for (let at = 0; at < list.length; at++) {
    const place = `${path}[${at}]`;
    const item = write(read(list, String(at), place), String(at), place, walk);
    json += (at === 0 ? '' : ',') + (item ?? 'null');
  }
  return `${json}]`;
}

function writeSet(set: Set<unknown>, path: string, walk: Walk): string {
  warn(walk, `A Set at ${shown(path)} became an array`);
  return writeList([...set], path, walk);
}

function writeMap(map: Map<unknown, unknown>, path: string, walk: Walk): string {
  const pairs = [...map];
  if (pairs.every(([key]) => typeof key === 'string')) {
    warn(walk, `A Map at ${shown(path)} became an object`);
    return writeEntries(pairs as [string, unknown][], path, walk);
  }
  warn(walk, `A Map at ${shown(path)} became an array of pairs, since not all its keys are strings`);
  return writeList(pairs, path, walk);
}

function writeFields(value: object, path: string, walk: Walk): string {
  if (value instanceof Promise) warn(walk, `A promise at ${shown(path)} was not awaited and became {}`);
  else if (value instanceof Error)
    warn(walk, `An error at ${shown(path)} lost its message; return error.message instead`);
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(value)) entries[entries.length] = [key, read(value, key, member(path, key))];
  return writeEntries(entries, path, walk);
}

function writeEntries(entries: readonly [string, unknown][], path: string, walk: Walk): string {
  let json = '{';
  for (const [key, item] of entries) {
    const text = write(item, key, member(path, key), walk);
    if (text !== undefined) json += `${json === '{' ? '' : ','}${stringifyJson(key)}:${text}`;
  }
  return `${json}}`;
}

function read(holder: object, key: string, path: string): unknown {
  try {
    return (holder as Record<string, unknown>)[key];
  } catch (error) {
    throw new NotJson(path, `a getter that threw ${messageOf(error)}`);
  }
}

function withToJson(value: unknown, key: string, path: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  try {
    const { toJSON } = value as { toJSON?: unknown };
    return typeof toJSON === 'function' ? (toJSON.call(value, key) as unknown) : value;
  } catch (error) {
    throw new NotJson(path, `a toJSON that threw ${messageOf(error)}`);
  }
}

function unboxed(value: unknown): unknown {
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  return value;
}

function member(path: string, key: string): string {
  if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key)) return `${path}[${stringifyJson(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

function shown(path: string): string {
  return path === '' ? 'the top of the result' : `\`${path}\` of the result`;
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : `a ${typeof error}`;
  } catch {
    return 'an error';
  }
}

function warn(walk: Walk, text: string): void {
  if (walk.warnings.length < MAX_RESULT_WARNINGS) walk.warnings.push(`${text}.`);
}
