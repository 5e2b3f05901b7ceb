import { freezeReachable } from './freeze-intrinsics.ts';
import { removeUnpermitted } from './intrinsics.ts';
import { construct, defineProperty, getPrototypeOf } from './primordials.ts';

/**
 * Locks what a Segmenter gives out when the first is made.
 *
 * Its prototypes have no path of their own, and making a Segmenter only to reach them loads the engine's tables of
 * languages, which is a tenth of a sandbox's start.
 */
export function tameSegmenter(): void {
  const Known = Intl.Segmenter as unknown as new (...values: unknown[]) => Intl.Segmenter;
  let locked = false;
  const Tamed = function (...values: unknown[]): object {
    if (new.target === undefined) throw new TypeError("Constructor Intl.Segmenter requires 'new'");
    if (!locked) {
      locked = true;
      lockSegments(new Known());
    }
    return construct(Known, values, new.target);
  };
  defineProperty(Tamed, 'name', { value: 'Segmenter', configurable: true });
  defineProperty(Tamed, 'length', { value: 0, configurable: true });
  defineProperty(Tamed, 'prototype', { value: Known.prototype, writable: false });
  defineProperty(Tamed, 'supportedLocalesOf', {
    value: Intl.Segmenter.supportedLocalesOf,
    writable: true,
    configurable: true,
  });
  defineProperty(Known.prototype, 'constructor', { value: Tamed, writable: true, configurable: true });
  defineProperty(Intl, 'Segmenter', { value: Tamed, writable: true, configurable: true });
}

function lockSegments(segmenter: Intl.Segmenter): void {
  const segments = segmenter.segment('');
  const late = {
    '%SegmentsPrototype%': getPrototypeOf(segments) as object,
    '%SegmentIteratorPrototype%': getPrototypeOf(segments[Symbol.iterator]()) as object,
  };
  removeUnpermitted(late);
  freezeReachable([late['%SegmentsPrototype%'], late['%SegmentIteratorPrototype%']]);
}
