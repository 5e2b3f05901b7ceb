import { SMALL_RUN_AGENTS } from './agent-row.ts';

/** Changes that come together are shown together. */
const GATHER_MS = 100;

/** Distance of lines. A state change waits for at most so long, which leaves timers some room below 1 s and 3 s (E-14). */
const SMALL_RUN_INTERVAL_MS = 800;
const LARGE_RUN_INTERVAL_MS = 2500;

/** Lines without a state change come ever more rarely: after this part of the time the run has taken so far. */
const MINOR_PART_OF_ELAPSED = 0.25;

/**
 * When the next progress line is due, in the time of the events. It knows no clock, so a replay ticks exactly as the live
 * stream did.
 */
export interface ProgressSchedule {
  /** Notes a change at `atMs`. */
  changed(kind: 'major' | 'minor', atMs: number, agentCount: number): void;
  readonly dueAtMs: number | undefined;
  /** Notes that the line which was due was written, or was too dear and waits for the next change. */
  settled(wroteAtMs: number | undefined): void;
}

/** How long a state change may wait. */
export function longestWaitMs(agentCount: number): number {
  return agentCount > SMALL_RUN_AGENTS ? LARGE_RUN_INTERVAL_MS : SMALL_RUN_INTERVAL_MS;
}

export function createProgressSchedule(startedAtMs: number): ProgressSchedule {
  let dueAtMs: number | undefined;
  let lastLineAtMs = Number.NEGATIVE_INFINITY;
  return {
    changed(kind, atMs, agentCount) {
      const intervalMs = longestWaitMs(agentCount);
      const distanceMs =
        kind === 'major' ? intervalMs : Math.max(2 * intervalMs, (atMs - startedAtMs) * MINOR_PART_OF_ELAPSED);
      const wantedAtMs = Math.max(atMs + GATHER_MS, lastLineAtMs + distanceMs);
      dueAtMs = dueAtMs === undefined ? wantedAtMs : Math.min(dueAtMs, wantedAtMs);
    },
    get dueAtMs() {
      return dueAtMs;
    },
    settled(wroteAtMs) {
      dueAtMs = undefined;
      if (wroteAtMs !== undefined) lastLineAtMs = wroteAtMs;
    },
  };
}
