import type { RunState } from '../../cache/run-state.ts';

/** A state as people read it: what records and lines of JSON call `killed` is `stopped` in every text (C-6, E-7). */
export function stateWord(state: RunState): Exclude<RunState, 'killed'> | 'stopped' {
  return state === 'killed' ? 'stopped' : state;
}
