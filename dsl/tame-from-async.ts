import { apply, defineProperty } from './primordials.ts';
import { fork } from './scope.ts';
import { inFrame } from './scope-hooks.ts';

type FromAsync = (items: unknown, mapper?: unknown, mapperThis?: unknown) => unknown;

/** Makes `Array.fromAsync` call its mapper, which it does from microtasks, in the frame of its caller. */
export function tameFromAsync(): void {
  const real = (Array as unknown as { readonly fromAsync: FromAsync }).fromAsync;
  const tamed = {
    fromAsync(this: unknown, items: unknown, ...[mapper, mapperThis]: unknown[]): unknown {
      const framed = typeof mapper === 'function' ? inFrame(fork('call'), mapper as () => unknown) : mapper;
      return apply(real, this, [items, framed, mapperThis]);
    },
  };
  defineProperty(Array, 'fromAsync', { value: tamed.fromAsync, writable: true, configurable: true });
}
