import { defineProperty } from './primordials.ts';

/**
 * Lets the prelude see when a promise that was rejected earlier gets its handler after all (S-27).
 *
 * The engine reports unhandled rejections once, at the end of a turn, and says nothing later. But by the standard every
 * `await p`, `p.then()`, `Promise.resolve(p)` and `Promise.all([p])` reads `p.constructor`, which a script inherits from
 * here. Contract: outside `isWatching`, this is the ordinary property.
 */
export function watchPromises(isWatching: () => boolean, onUsed: (promise: Promise<unknown>) => void): void {
  const RealPromise = Promise;
  const { prototype } = RealPromise;
  let inside = false;
  const accessors = {
    get constructor(): unknown {
      if (isWatching() && !inside && (this as unknown) !== prototype) {
        inside = true;
        try {
          onUsed(this as unknown as Promise<unknown>);
        } finally {
          inside = false;
        }
      }
      return RealPromise;
    },
    set constructor(own: unknown) {
      const ok =
        (this as unknown) !== prototype &&
        defineProperty(this, 'constructor', { value: own, writable: true, enumerable: true, configurable: true });
      if (!ok) throw new TypeError("Cannot assign to 'constructor' of a frozen object");
    },
  };
  const { get, set } = Reflect.getOwnPropertyDescriptor(accessors, 'constructor') as PropertyDescriptor;
  defineProperty(prototype, 'constructor', { get: get as () => unknown, set: set as () => void, configurable: true });
}
