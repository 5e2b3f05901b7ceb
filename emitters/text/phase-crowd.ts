/** Agents of a phase that are shown one by one; a phase with more shows counts. */
const SHOWN_AGENTS = 40;
/** Failures of a crowded phase that are shown one by one. */
const SHOWN_FAILURES = 10;
/** Counts are shown at most so often, and when so much of the phase has ended since. */
const COUNTS_EVERY_MS = 5000;
const COUNTS_EVERY_PART = 0.1;

/** What is shown of the agents of one phase, so that a thousand of them do not flood a screen. */
export interface PhaseCrowd {
  queued(): void;
  /** Notes an end; tells whether the agent has a line of its own. */
  ended(failed: boolean, atMs: number): boolean;
  /** Whether beginnings and retries have lines of their own. */
  readonly isCrowded: boolean;
  /** A line of counts, when one is due. */
  counts(atMs: number): string | undefined;
}

export function createPhaseCrowd(): PhaseCrowd {
  let all = 0;
  let ended = 0;
  let failed = 0;
  let saidEnded = 0;
  let saidAtMs = 0;
  const isCrowded = (): boolean => all > SHOWN_AGENTS;
  return {
    queued() {
      all++;
    },
    ended(hasFailed, atMs) {
      if (saidAtMs === 0) saidAtMs = atMs;
      ended++;
      if (hasFailed) failed++;
      return !isCrowded() || (hasFailed && failed <= SHOWN_FAILURES);
    },
    get isCrowded() {
      return isCrowded();
    },
    counts(atMs) {
      if (!isCrowded() || ended === saidEnded) return undefined;
      const isDue = atMs - saidAtMs >= COUNTS_EVERY_MS;
      const isFar = ended - saidEnded >= Math.max(SHOWN_AGENTS / 4, all * COUNTS_EVERY_PART);
      if (!isDue && !isFar) return undefined;
      saidEnded = ended;
      saidAtMs = atMs;
      return `${ended} of ${all} agents ended${failed > 0 ? `, ${failed} of them failed` : ''}`;
    },
  };
}
