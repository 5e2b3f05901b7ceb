import { apply, defineProperty, getOwnPropertyDescriptor } from './primordials.ts';
import { refusal } from './refusal.ts';

type Format = (date?: unknown) => unknown;

/** Takes the clock out of `Intl.DateTimeFormat`, whose methods format the present when they are given no date (S-20). */
export function tameIntl(): void {
  const prototype = Intl.DateTimeFormat.prototype;
  const realFormat = getOwnPropertyDescriptor(prototype, 'format')?.get as (this: unknown) => Format;
  const realToParts = getOwnPropertyDescriptor(prototype, 'formatToParts')?.value as Format;
  const bound = new WeakMap<object, Format>();
  const tamed = {
    get format(): Format {
      const real = apply(realFormat, this, []) as Format;
      const known = bound.get(real);
      if (known !== undefined) return known;
      const format: Format = (date) => real(dateGiven(date, 'format'));
      bound.set(real, format);
      return format;
    },
    formatToParts(date?: unknown): unknown {
      return apply(realToParts, this, [dateGiven(date, 'formatToParts')]);
    },
  };
  const { get } = getOwnPropertyDescriptor(tamed, 'format') as { get: () => Format };
  defineProperty(prototype, 'format', { get, enumerable: false, configurable: true });
  defineProperty(prototype, 'formatToParts', { value: tamed.formatToParts, writable: true, configurable: true });
}

function dateGiven(date: unknown, method: string): unknown {
  if (date === undefined) throw refusal(`Intl.DateTimeFormat's ${method}() without a date`, 'the time of day');
  return date;
}
