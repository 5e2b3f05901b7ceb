import { isArray, stringifyJson } from './primordials.ts';
import { MAX_RESULT_WARNINGS } from './wire.ts';

export type ResultJson =
  | { readonly ok: true; readonly json: string | undefined; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly path: string; readonly what: string };

interface Walk {
  readonly warnings: string[];
  /** The objects around the value that is being written, and where each one below stands in it. */
  readonly above: object[];
  readonly keys: (string | number)[];
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
  const walk: Walk = { warnings: [], above: [], keys: [] };
  try {
    if (typeof value === 'function' || typeof value === 'symbol') throw new NotJson('', `a ${typeof value}`);
    return { ok: true, json: write(value, '', walk), warnings: walk.warnings };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, path: error.path, what: error.what };
    if (error instanceof RangeError)
      return { ok: false, path: '', what: 'a value that is nested too deeply or too large' };
    throw error;
  }
}

/** JSON text of a value; undefined for what JSON leaves out. */
function write(given: unknown, key: string | number, walk: Walk): string | undefined {
  const value = unboxed(withToJson(given, key, walk));
  switch (typeof value) {
    case 'string':
      return stringifyJson(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (Number.isFinite(value)) return `${value}`;
      warn(walk, `${value} at ${shown(walk)} became null`);
      return 'null';
    case 'bigint':
      throw new NotJson(pathOf(walk), 'a BigInt');
    case 'function':
    case 'symbol':
      warn(walk, `A ${typeof value} at ${shown(walk)} was left out`);
      return undefined;
    case 'object':
      return value === null ? 'null' : writeObject(value, walk);
    default:
      return undefined;
  }
}

function writeObject(value: object, walk: Walk): string {
  const { above } = walk;
  const depth = above.length;
  for (let at = 0; at < depth; at++) if (above[at] === value) throw new NotJson(pathOf(walk), 'a cycle');
  above[depth] = value;
  let json: string;
  if (isArray(value)) json = writeList(value, walk);
  else if (value instanceof Set) json = writeSet(value, walk);
  else if (value instanceof Map) json = writeMap(value, walk);
  else json = writeFields(value, walk);
  above.length = depth;
  return json;
}

function writeList(list: readonly unknown[], walk: Walk): string {
  const { keys } = walk;
  const depth = keys.length;
  const count = list.length;
  let json = '[';
  for (let at = 0; at < count; at++) {
    keys[depth] = at;
    const item = write(read(list, at, walk), at, walk) ?? 'null';
    json += at === 0 ? item : `,${item}`;
  }
  keys.length = depth;
  return `${json}]`;
}

function writeSet(set: Set<unknown>, walk: Walk): string {
  warn(walk, `A Set at ${shown(walk)} became an array`);
  return writeList([...set], walk);
}

function writeMap(map: Map<unknown, unknown>, walk: Walk): string {
  const pairs = [...map];
  if (pairs.every(([key]) => typeof key === 'string')) {
    warn(walk, `A Map at ${shown(walk)} became an object`);
    return writeEntries(pairs as [string, unknown][], walk);
  }
  warn(walk, `A Map at ${shown(walk)} became an array of pairs, since not all its keys are strings`);
  return writeList(pairs, walk);
}

function writeFields(value: object, walk: Walk): string {
  if (value instanceof Promise) warn(walk, `A promise at ${shown(walk)} was not awaited and became {}`);
  else if (value instanceof Error)
    warn(walk, `An error at ${shown(walk)} lost its message; return error.message instead`);
  const { keys } = walk;
  const depth = keys.length;
  const names = Object.keys(value);
  const entries: [string, unknown][] = [];
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string;
    keys[depth] = name;
    entries[at] = [name, read(value, name, walk)];
  }
  keys.length = depth;
  return writeEntries(entries, walk);
}

function writeEntries(entries: readonly (readonly [string, unknown])[], walk: Walk): string {
  const { keys } = walk;
  const depth = keys.length;
  let json = '{';
  for (let at = 0; at < entries.length; at++) {
    const [key, item] = entries[at] as readonly [string, unknown];
    keys[depth] = key;
    const text = write(item, key, walk);
    if (text !== undefined) json += `${json === '{' ? '' : ','}${stringifyJson(key)}:${text}`;
  }
  keys.length = depth;
  return `${json}}`;
}

function read(holder: object, key: string | number, walk: Walk): unknown {
  try {
    return (holder as Record<string | number, unknown>)[key];
  } catch (error) {
    throw new NotJson(pathOf(walk), `a getter that threw ${messageOf(error)}`);
  }
}

function withToJson(value: unknown, key: string | number, walk: Walk): unknown {
  if (typeof value !== 'object' || value === null) return value;
  try {
    const { toJSON } = value as { toJSON?: unknown };
    return typeof toJSON === 'function' ? (toJSON.call(value, String(key)) as unknown) : value;
  } catch (error) {
    throw new NotJson(pathOf(walk), `a toJSON that threw ${messageOf(error)}`);
  }
}

function unboxed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  return value;
}

/** Where the value stands that is being written; put together only when it is told. */
function pathOf({ keys }: Walk): string {
  let path = '';
  for (const key of keys) {
    if (typeof key === 'number') path += `[${key}]`;
    else if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key)) path += `[${stringifyJson(key)}]`;
    else path += path === '' ? key : `.${key}`;
  }
  return path;
}

function shown(walk: Walk): string {
  const path = pathOf(walk);
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
