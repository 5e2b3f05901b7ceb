import { PERMITTED } from './permit-table.ts';
import { deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } from './primordials.ts';

/** An object of the engine, by its name in the permit table. */
export type Intrinsics = Readonly<Record<string, object>>;

/**
 * Finds the objects that the permit table names; those that this engine does not have are left out, and those of
 * `Intl.Segmenter`, which `tame-segmenter.ts` sees to when they are first made.
 */
export function findIntrinsics(): Intrinsics {
  const hidden = hiddenIntrinsics();
  const found: Record<string, object> = {};
  for (const path in PERMITTED) {
    const object = path.startsWith('%') ? hidden[path] : follow(path);
    if (object !== undefined) found[path] = object;
  }
  return found;
}

/** The name of a property key in the permit table. */
export function keyName(key: string | symbol): string {
  return typeof key === 'string' ? key : `@@${String(key.description).replace('Symbol.', '')}`;
}

/** Deletes every own property of the named intrinsics that the table does not name. */
export function removeUnpermitted(intrinsics: Intrinsics): void {
  for (const path in intrinsics) {
    const object = intrinsics[path] as object;
    const permitted = (PERMITTED[path] as string).split(' ');
    for (const key of ownKeys(object)) {
      const name = keyName(key);
      if (permitted.includes(name) || (typeof object === 'function' && FUNCTION_OWN.includes(name))) continue;
      if (!deleteProperty(object, key)) throw new Error(`The engine does not let go of ${path}.${name}`);
    }
  }
}

const FUNCTION_OWN = ['length', 'name', 'prototype'];

function follow(path: string): object | undefined {
  if (path === 'globalThis') return globalThis;
  let at: unknown = globalThis;
  for (const step of path.split('.')) {
    const key = step === '@@unscopables' ? Symbol.unscopables : step;
    at = getOwnPropertyDescriptor(at as object, key)?.value;
    if (at === undefined) return undefined;
  }
  return at as object;
}

function hiddenIntrinsics(): Record<string, object> {
  const asyncFunction = getPrototypeOf(async () => {}) as object;
  const generatorFunction = getPrototypeOf(function* () {}) as { prototype: object };
  const asyncGeneratorFunction = getPrototypeOf(async function* () {}) as { prototype: object };
  const typedArray = getPrototypeOf(Int8Array) as { prototype: object };
  const { Iterator } = globalThis as unknown as { Iterator: { from(iterator: object): object } };
  const wrapped = Iterator.from({ next: () => ({ done: true, value: undefined }) });
  const helped = ([].values() as unknown as { map(callback: () => undefined): object }).map(() => undefined);
  const proto = (value: object): object => getPrototypeOf(value) as object;
  return {
    '%AsyncFunction%': asyncFunction.constructor,
    '%AsyncFunction.prototype%': asyncFunction,
    '%GeneratorFunction%': generatorFunction.constructor,
    '%GeneratorFunction.prototype%': generatorFunction,
    '%GeneratorPrototype%': generatorFunction.prototype,
    '%AsyncGeneratorFunction%': asyncGeneratorFunction.constructor,
    '%AsyncGeneratorFunction.prototype%': asyncGeneratorFunction,
    '%AsyncGeneratorPrototype%': asyncGeneratorFunction.prototype,
    '%AsyncIteratorPrototype%': proto(asyncGeneratorFunction.prototype),
    '%ArrayIteratorPrototype%': proto([][Symbol.iterator]()),
    '%MapIteratorPrototype%': proto(new Map().entries()),
    '%SetIteratorPrototype%': proto(new Set().values()),
    '%StringIteratorPrototype%': proto(''[Symbol.iterator]()),
    '%RegExpStringIteratorPrototype%': proto(''.matchAll(/a/g)),
    '%IteratorHelperPrototype%': proto(helped),
    '%WrapForValidIteratorPrototype%': proto(wrapped),
    '%TypedArray%': typedArray,
    '%TypedArray.prototype%': typedArray.prototype,
  };
}
