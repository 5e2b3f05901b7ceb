import { getPrototypeOf, isArray } from './primordials.ts';

/**
 * Copies data, cycles included. Source: HTML Standard, StructuredSerialize: plain objects, arrays, Map, Set, Date, RegExp,
 * errors, buffers, typed arrays and boxed primitives; functions, symbols and promises are refused.
 */
export function structuredClone(value: unknown): unknown {
  return copy(value, new Map());
}

function copy(value: unknown, seen: Map<object, object>): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') throw refused(`a ${typeof value}`);
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const made = makeEmpty(value, seen);
  seen.set(value, made);
  fill(value, made, seen);
  return made;
}

/** Makes the copy of an object without what it holds, so that a cycle finds it. */
function makeEmpty(value: object, seen: Map<object, object>): object {
  if (isArray(value)) return new Array(value.length);
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof Error) return makeError(value);
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (ArrayBuffer.isView(value)) return copyView(value, seen);
  if (value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt) {
    return Object(value.valueOf()) as object;
  }
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet)
    throw refused('a promise or weak collection');
  return {};
}

function fill(value: object, made: object, seen: Map<object, object>): void {
  if (made instanceof Map) {
    for (const [key, item] of [...(value as Map<unknown, unknown>)]) made.set(copy(key, seen), copy(item, seen));
  } else if (made instanceof Set) {
    for (const item of [...(value as Set<unknown>)]) made.add(copy(item, seen));
  } else if (made instanceof Error) {
    const { cause } = value as Error;
    if (cause !== undefined) define(made, 'cause', copy(cause, seen), false);
  } else if (isArray(made) || getPrototypeOf(made) === Object.prototype) {
    for (const key of Object.keys(value)) define(made, key, copy((value as Record<string, unknown>)[key], seen), true);
  }
}

function define(target: object, key: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable, configurable: true });
}

function makeError(error: Error): Error {
  const constructors = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const Made = constructors[String(error.name) as keyof typeof constructors] ?? Error;
  const made = new Made(String(error.message));
  define(made, 'stack', String(error.stack), false);
  return made;
}

function copyView(view: ArrayBufferView, seen: Map<object, object>): object {
  const buffer = copy(view.buffer, seen) as ArrayBuffer;
  if (view instanceof DataView) return new DataView(buffer, view.byteOffset, view.byteLength);
  const typed = view as Uint8Array;
  const name = typed[Symbol.toStringTag] as 'Uint8Array';
  return new (globalThis[name] as typeof Uint8Array)(buffer, typed.byteOffset, typed.length);
}

function refused(what: string): TypeError {
  return new TypeError(`structuredClone() copies data only, and was given ${what}.`);
}
