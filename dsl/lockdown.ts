import { defineGlobal, enableOverrides, fixGlobals, freezeReachable } from './freeze-intrinsics.ts';
import { findIntrinsics, removeUnpermitted } from './intrinsics.ts';
import { tameDate } from './tame-date.ts';
import { tameErrors } from './tame-errors.ts';
import { tameFromAsync } from './tame-from-async.ts';
import { tameFunctionConstructors } from './tame-function-constructors.ts';
import { tameFunctionSource } from './tame-function-source.ts';
import { tameIntl } from './tame-intl.ts';
import { tameLocale } from './tame-locale.ts';
import { tameMath } from './tame-math.ts';
import { tameSegmenter } from './tame-segmenter.ts';
import { watchPromises } from './watch-promises.ts';

export interface LockdownOptions {
  /** Called with each native promise that is awaited or given a handler, while `isWatching`. */
  readonly onPromiseUsed: (promise: Promise<unknown>) => void;
  readonly isWatching: () => boolean;
  /** What scripts get besides the engine's own. */
  readonly globals: Readonly<Record<string, unknown>>;
}

/**
 * Turns a fresh realm into the one that scripts see (S-20 to S-22): what is not permitted goes, what is hazardous is
 * tamed, the rest is frozen. Globals defined later are fixed by `defineGlobal`.
 */
export function lockdown(options: LockdownOptions): void {
  removeUnpermitted(findIntrinsics());
  tameFunctionConstructors();
  tameDate();
  tameMath();
  tameLocale();
  tameIntl();
  tameSegmenter();
  tameErrors();
  tameFunctionSource();
  tameFromAsync();
  watchPromises(options.isWatching, options.onPromiseUsed);
  for (const name in options.globals) defineGlobal(name, options.globals[name]);
  const intrinsics = findIntrinsics();
  enableOverrides(intrinsics);
  freezeReachable([globalThis, ...Object.values(intrinsics)]);
  fixGlobals();
}
