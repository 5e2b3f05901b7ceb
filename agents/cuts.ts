import type { AgentReporter, Redactor } from '../runtime/ports.ts';

/** What shortens a text: never in the middle of a secret, where the run has any. */
export type Cuts = Pick<Redactor, 'slice' | 'settled'>;

/** Characters beyond a cut that must be there, so that a secret it would divide is seen. */
export const CUT_REACH = 64 * 1024;

/** Where no secrets are known. */
export const PLAIN_CUTS: Cuts = {
  slice: (text, from, to) => text.slice(from, to),
  settled: (text) => text.length,
};

export function cutsOf({ redactor }: AgentReporter): Cuts {
  return redactor ?? PLAIN_CUTS;
}
