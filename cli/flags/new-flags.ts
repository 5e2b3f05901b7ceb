import type { RunFlags } from './run-flags.ts';

/** Options of `wf new` beyond those of `wf run`. */
export interface NewFlags extends RunFlags {
  /** Name under which the script is saved. */
  readonly save?: string;
}
