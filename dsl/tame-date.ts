import { construct, defineProperty } from './primordials.ts';
import { refusal } from './refusal.ts';

/**
 * Takes the clock out of `Date` (S-20): dates can be made from a value, read and formatted, but never from now.
 *
 * Replay: a script that read the clock would make other calls when it is resumed.
 */
export function tameDate(): void {
  const RealDate = Date;
  const TamedDate = function (this: unknown, ...values: unknown[]): object {
    if (new.target === undefined) throw refusal('Date()', 'the time of day');
    if (values.length === 0) throw refusal('new Date() without a value', 'the time of day');
    return construct(RealDate, values, new.target);
  };
  const statics = {
    now(): never {
      throw refusal('Date.now()', 'the time of day');
    },
  };
  defineProperty(TamedDate, 'name', { value: 'Date', configurable: true });
  defineProperty(TamedDate, 'length', { value: 7, configurable: true });
  defineProperty(TamedDate, 'prototype', { value: RealDate.prototype, writable: false });
  for (const [key, value] of [
    ['now', statics.now],
    ['parse', RealDate.parse],
    ['UTC', RealDate.UTC],
  ] as const) {
    defineProperty(TamedDate, key, { value, writable: true, configurable: true });
  }
  defineProperty(RealDate.prototype, 'constructor', { value: TamedDate, writable: true, configurable: true });
  defineProperty(globalThis, 'Date', { value: TamedDate, writable: true, configurable: true });
}
