import type { Intrinsics } from './intrinsics.ts';
import { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } from './primordials.ts';

/**
 * Makes inherited names assignable on own objects although the prototypes are frozen (S-21).
 *
 * A frozen data property on a prototype forbids `object.name = …` on everything that inherits it, which breaks
 * `this.name = …` in an Error subclass. Each such property becomes an accessor whose setter defines the name on the
 * receiver. Left alone: symbols, `then`, and the iterators' `next`, which the engine's own fast paths watch.
 */
export function enableOverrides(intrinsics: Intrinsics): void {
  for (const path in intrinsics) {
    if (!path.endsWith('.prototype') && !path.endsWith('.prototype%')) continue;
    const prototype = intrinsics[path] as object;
    for (const key of ownKeys(prototype)) {
      const property = getOwnPropertyDescriptor(prototype, key);
      if (typeof key === 'symbol' || key === 'then' || property === undefined) continue;
      if (!('value' in property) || !property.configurable) continue;
      if (typeof prototype === 'function' && (key === 'name' || key === 'length')) continue;
      makeAssignable(prototype, key, property.value, property.enumerable ?? false);
    }
  }
}

function makeAssignable(prototype: object, key: string, value: unknown, enumerable: boolean): void {
  const accessors = {
    get(): unknown {
      return value;
    },
    set(this: unknown, own: unknown): void {
      const receiver = this as object;
      const ok =
        receiver !== prototype &&
        defineProperty(receiver, key, { value: own, writable: true, enumerable: true, configurable: true });
      if (!ok) throw new TypeError(`Cannot assign to '${key}' of a frozen object`);
    },
  };
  defineProperty(prototype, key, { get: accessors.get, set: accessors.set, enumerable, configurable: false });
}

/** Freezes everything reachable from `roots`. The global object itself stays open; its properties are fixed apart. */
export function freezeReachable(roots: readonly object[]): void {
  const seen = new Set<object>([globalThis]);
  const queue: unknown[] = [...roots];
  const visit = (value: unknown): void => {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value)) return;
    seen.add(value);
    queue.push(value);
  };
  for (const root of roots) seen.add(root);
  for (let at = 0; at < queue.length; at++) {
    const object = queue[at] as object;
    if (isBareFunction(object)) {
      freeze(object);
      continue;
    }
    for (const key of ownKeys(object)) {
      const property = getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
      visit(property.value);
      visit(property.get);
      visit(property.set);
    }
    visit(getPrototypeOf(object));
    if (object !== globalThis) freeze(object);
  }
}

/** A function that holds nothing but its name and length: most of the engine's. */
function isBareFunction(object: object): boolean {
  return typeof object === 'function' && ownKeys(object).length === 2 && getPrototypeOf(object) === FunctionPrototype;
}

const FunctionPrototype = getPrototypeOf(() => {});

/** Makes every property of the global object read-only and permanent. */
export function fixGlobals(): void {
  for (const key of ownKeys(globalThis)) {
    const property = getOwnPropertyDescriptor(globalThis, key) as PropertyDescriptor;
    if (!property.configurable) continue;
    defineProperty(
      globalThis,
      key,
      'value' in property ? { configurable: false, writable: false } : { configurable: false },
    );
  }
}

/** Defines a global that a script can neither replace nor delete. */
export function defineGlobal(name: string, value: unknown): void {
  defineProperty(globalThis, name, { value, writable: false, enumerable: false, configurable: false });
}
