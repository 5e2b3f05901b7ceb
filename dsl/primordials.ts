/**
 * Functions of the engine as they are before any script runs (S-32).
 *
 * Every built-in prototype is frozen before a script runs, so calling a method on an object that only the prelude holds is
 * safe. Captured here is what the lockdown takes away from scripts, and what is called often: a method of a frozen
 * prototype is read through an accessor (see `freeze-intrinsics.ts`), which costs ten times a captured function.
 */
const RealPromise = Promise;
const RealDate = Date;
const realThen = Promise.prototype.then;
const realResolve = Promise.resolve;
const realNow = Date.now;
const realToString = Function.prototype.toString;

export const {
  apply,
  construct,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  ownKeys,
  setPrototypeOf,
} = Reflect;
export const { freeze } = Object;
export const { isArray } = Array;
export const { parse: parseJson, stringify: stringifyJson } = JSON;

export function makePromise<T>(
  executor: (resolve: (value: T) => void, reject: (reason: unknown) => void) => void,
): Promise<T> {
  return new RealPromise<T>(executor as ConstructorParameters<typeof RealPromise<T>>[0]);
}

export function rejected(reason: unknown): Promise<never> {
  return new RealPromise<never>((_, reject) => reject(reason));
}

/** `Promise.resolve` of the realm: a native promise is given back as it is, a thenable is adopted. */
export function resolved(value: unknown): Promise<unknown> {
  return apply(realResolve, RealPromise, [value]);
}

export function isPromise(value: object): boolean {
  return value instanceof RealPromise;
}

/** The length of a list, asked once: that of a Proxy may be another each time, and need be no number. */
export function lengthOf(list: readonly unknown[]): number {
  return Number(list.length);
}

/** The text that a function was compiled from. */
export function functionSource(of: object): string {
  return apply(realToString, of, []);
}

/** `Promise.prototype.then`, whatever the promise's own `then` is. */
export function whenSettled<T, R>(
  promise: Promise<T>,
  onValue: ((value: T) => R | Promise<R>) | undefined,
  onError?: (reason: unknown) => R,
): Promise<R> {
  return apply(realThen, promise, [onValue, onError]) as Promise<R>;
}

const realTrim = String.prototype.trim;
const realIsWellFormed = String.prototype.isWellFormed;

export function isBlank(text: string): boolean {
  return apply(realTrim, text, []) === '';
}

/** The text with U+FFFD for lone surrogates (S-33). */
export function wellFormed(text: string): string {
  return apply(realIsWellFormed, text, []) ? text : text.toWellFormed();
}

/** The clock, which scripts do not have; for timers. */
export function feralNow(): number {
  return apply(realNow, RealDate, []);
}
