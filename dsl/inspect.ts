import { getOwnPropertyDescriptor, getPrototypeOf, isArray, ownKeys, stringifyJson } from './primordials.ts';
import { MAX_LOG_CHARACTERS } from './wire.ts';

const DEPTH = 8;
const ENTRIES = 100;

interface Writer {
  /** Characters left; nothing is descended into once they are used up. */
  left: number;
  readonly above: object[];
}

/** Shows any value in one line: strings as they are, everything else as one would write it. Bounded; never throws. */
export function readable(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return show(value, { left: MAX_LOG_CHARACTERS + 1, above: [] });
  } catch (error) {
    return `[a value that cannot be shown: ${typeof error}]`;
  }
}

/** Joins values like a console does: `%s %d %i %f %j %o %O %c %%` in a first string take the values after it. */
export function formatValues(values: readonly unknown[]): string {
  let next = 0;
  let text = '';
  const first = values[0];
  if (typeof first === 'string' && values.length > 1) {
    next = 1;
    text = first.replace(/%([sdifjoOc%])/g, (whole: string, kind: string) => {
      if (kind === '%') return '%';
      if (next >= values.length) return whole;
      return substitute(kind, values[next++]);
    });
  } else if (values.length > 0) {
    text = readable(first);
    next = 1;
  }
  for (; next < values.length; next++) text += ` ${readable(values[next])}`;
  return text;
}

function substitute(kind: string, value: unknown): string {
  if (kind === 'c') return '';
  if (kind === 'j') {
    try {
      return String(stringifyJson(value));
    } catch {
      return readable(value);
    }
  }
  if (kind === 's' || kind === 'o' || kind === 'O' || typeof value === 'bigint') return readable(value);
  if (typeof value === 'object' || typeof value === 'symbol') return 'NaN';
  return String(kind === 'i' ? Number.parseInt(String(value), 10) : Number(value));
}

function show(value: unknown, writer: Writer): string {
  const text = showAny(value, writer);
  writer.left -= text.length;
  return text;
}

function showAny(value: unknown, writer: Writer): string {
  switch (typeof value) {
    case 'string':
      return quote(value, writer);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return `[function ${String(value.name) || 'without a name'}]`;
    case 'object':
      return value === null ? 'null' : showObject(value, writer);
    default:
      return String(value);
  }
}

function quote(text: string, writer: Writer): string {
  const shown = text.length > writer.left && writer.left >= 0 ? `${text.slice(0, writer.left)}…` : text;
  return stringifyJson(shown);
}

function showObject(value: object, writer: Writer): string {
  if (writer.above.includes(value)) return '[a cycle]';
  if (writer.above.length >= DEPTH || writer.left <= 0) return isArray(value) ? '[…]' : '{…}';
  writer.above.push(value);
  try {
    return showKind(value, writer);
  } finally {
    writer.above.pop();
  }
}

function showKind(value: object, writer: Writer): string {
  if (isArray(value)) return showList(value, value.length, '[', ']', writer);
  if (value instanceof Error) return showError(value, writer);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return '[a promise: await it]';
  if (value instanceof Map) {
    const pairs: string[] = [];
    for (const [key, item] of value) {
      if (pairs.length >= ENTRIES || writer.left <= 0) break;
      pairs.push(`${show(key, writer)} => ${show(item, writer)}`);
    }
    return `Map(${value.size}) {${more(pairs, value.size)}}`;
  }
  if (value instanceof Set) return `Set(${value.size}) ${showList([...value], value.size, '{', '}', writer)}`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const bytes = value as unknown as ArrayLike<unknown>;
    return `${nameOfClass(value)}(${bytes.length}) ${showList(bytes, bytes.length, '[', ']', writer)}`;
  }
  return showFields(value, writer);
}

function showError(error: Error, writer: Writer): string {
  const stack: unknown = error.stack;
  const place = typeof stack === 'string' ? /\n {4}at (?:.*\()?([^()\n]+:\d+:\d+)\)?/.exec(stack)?.[1] : undefined;
  const cause = error.cause === undefined ? '' : `, caused by ${show(error.cause, writer)}`;
  return `${error.name}: ${error.message}${place === undefined ? '' : ` (${place})`}${cause}`;
}

function showList(list: ArrayLike<unknown>, size: number, open: string, close: string, writer: Writer): string {
  const items: string[] = [];
  for (let at = 0; at < size && at < ENTRIES && writer.left > 0; at++) items.push(show(list[at], writer));
  return `${open}${more(items, size)}${close}`;
}

function showFields(value: object, writer: Writer): string {
  const fields: string[] = [];
  const keys = ownKeys(value).filter((key) => getOwnPropertyDescriptor(value, key)?.enumerable === true);
  for (const key of keys) {
    if (fields.length >= ENTRIES || writer.left <= 0) break;
    const property = getOwnPropertyDescriptor(value, key);
    const name = typeof key === 'string' && /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? key : nameOfKey(key);
    fields.push(`${name}: ${property?.get === undefined ? show(property?.value, writer) : '[a getter]'}`);
  }
  const name = nameOfClass(value);
  return `${name === '' ? '' : `${name} `}{${fields.length === 0 ? '' : ` ${more(fields, keys.length)} `}}`;
}

function nameOfKey(key: string | symbol): string {
  return typeof key === 'string' ? stringifyJson(key) : `[${String(key)}]`;
}

/** Name of an instance's class; '' for plain objects. */
function nameOfClass(value: object): string {
  const prototype = getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return '';
  const name: unknown = (prototype as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' ? name : '';
}

function more(shown: readonly string[], size: number): string {
  const rest = size - shown.length;
  return shown.join(', ') + (rest > 0 ? `${shown.length === 0 ? '' : ', '}… ${rest} more` : '');
}
