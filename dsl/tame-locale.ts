import { apply, construct, defineProperty, getOwnPropertyDescriptor, ownKeys } from './primordials.ts';

const LOCALE = 'en-US';

type Method = (...values: unknown[]) => unknown;
type Constructor = new (...values: unknown[]) => object;

/**
 * Makes everything that takes a locale use en-US where none is given, whatever the host's is (S-20).
 *
 * The process is started with such a locale too; this holds where the system ignores the environment.
 */
export function tameLocale(): void {
  for (const prototype of [Number.prototype, BigInt.prototype]) defaultLocale(prototype, 'toLocaleString', 0);
  for (const name of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) {
    defaultLocale(Date.prototype, name, 0);
  }
  for (const name of ['toLocaleLowerCase', 'toLocaleUpperCase']) defaultLocale(String.prototype, name, 0);
  defaultLocale(String.prototype, 'localeCompare', 1);
  for (const name of ownKeys(Intl)) {
    const value: unknown = getOwnPropertyDescriptor(Intl, name)?.value;
    if (typeof value === 'function' && 'prototype' in value && name !== 'Locale') {
      defaultIntlLocale(name as string, value as Constructor);
    }
  }
}

/** Wraps a method so that its argument at `position` is a locale even when absent. */
function defaultLocale(prototype: object, name: string, position: number): void {
  const real = getOwnPropertyDescriptor(prototype, name)?.value as Method;
  const wrapper = {
    [name](this: unknown, ...values: unknown[]): unknown {
      if (values[position] === undefined) values[position] = LOCALE;
      return apply(real, this, values);
    },
  }[name] as Method;
  defineProperty(wrapper, 'length', { value: real.length, configurable: true });
  defineProperty(prototype, name, { value: wrapper, writable: true, configurable: true });
}

function defaultIntlLocale(name: string, Real: Constructor): void {
  const Tamed = function (this: unknown, ...values: unknown[]): object {
    if (values[0] === undefined) values[0] = LOCALE;
    // DateTimeFormat, NumberFormat and Collator may be called without `new`; the others throw as they always do.
    return new.target === undefined
      ? (apply(Real as never, undefined, values) as object)
      : construct(Real, values, new.target);
  };
  for (const key of ownKeys(Real)) {
    if (key === 'prototype') continue;
    defineProperty(Tamed, key, getOwnPropertyDescriptor(Real, key) as PropertyDescriptor);
  }
  defineProperty(Tamed, 'prototype', { value: Real.prototype, writable: false });
  defineProperty(Real.prototype, 'constructor', { value: Tamed, writable: true, configurable: true });
  defineProperty(Intl, name, { value: Tamed, writable: true, configurable: true });
}
