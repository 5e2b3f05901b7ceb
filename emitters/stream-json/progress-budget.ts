import { SMALL_RUN_AGENTS } from './agent-row.ts';

/**
 * Progress lines may take this many times the bytes of the last snapshot (E-14); one of them is that snapshot, which is
 * written at the end whatever was spent before.
 */
const TIMES_LAST_SNAPSHOT = 12;

/** In a large run, snapshots between the first and the last may take this many times the present one, in all. */
const LARGE_RUN_SNAPSHOTS = 3;

/** What one more state change may cost besides the frame of its line. */
const CHANGE_BYTES = 260;

/** A snapshot goes out at once when it takes no more than this part of what is free. */
const EAGER_PART = 0.3;

/** A line that shows no state change may take this part of what is free. */
const MINOR_PART = 0.1;

export interface LineSizes {
  /** Bytes of the snapshot that would be written now. */
  readonly snapshot: number;
  /** Bytes of the changes since the last line. */
  readonly changes: number;
  /** Bytes of a line of changes that has none. */
  readonly emptyChanges: number;
  /** The least that the last snapshot will take. */
  readonly floor: number;
  readonly agentCount: number;
  readonly stateChangesWaiting: number;
  readonly stateChangesToCome: number;
}

export type LineChoice = 'snapshot' | 'changes' | 'wait';

/**
 * Decides what a progress line that is due may hold.
 *
 * Two rules of E-14 pull at each other: all progress together stays within 12 times the last snapshot, and a state change
 * shows within a second (three in a large run). A stream of full snapshots cannot keep both once a run has more than a
 * dozen seconds in which something changes. So the budget is first set aside for one small line of changes for every state
 * change to come (each agent has at most two before it, so that is known); the rest is spent on full snapshots: at once
 * while they are cheap, later spread evenly over the changes to come, which for a growing run means at geometric
 * distances. Where bytes and time still conflict, which takes labels or ids of unusual length, bytes win, and the change
 * shows with the next line that fits; the last snapshot always comes.
 */
export interface ProgressBudget {
  choose(sizes: LineSizes): LineChoice;
  spend(choice: 'snapshot' | 'changes', bytes: number, sizes: LineSizes): void;
}

export function createProgressBudget(): ProgressBudget {
  let spent = 0;
  /** Spent in the large part of a run on what was not set aside. */
  let spentOnExtras = 0;
  let stateChangesSinceSnapshot = 0;

  const choose = (sizes: LineSizes): LineChoice => {
    const hard = (TIMES_LAST_SNAPSHOT - 1) * sizes.floor - spent;
    const free = hard - sizes.stateChangesToCome * (sizes.emptyChanges + CHANGE_BYTES);
    const extras = isLarge(sizes) ? Math.min(free, LARGE_RUN_SNAPSHOTS * sizes.snapshot - spentOnExtras) : free;
    if (sizes.stateChangesWaiting === 0) {
      if (sizes.snapshot <= MINOR_PART * extras) return 'snapshot';
      return sizes.changes <= MINOR_PART * extras ? 'changes' : 'wait';
    }
    if (sizes.snapshot <= Math.min(sizes.changes, hard)) return 'snapshot';
    if (sizes.snapshot <= extras) {
      const affordable = Math.floor(extras / sizes.snapshot);
      const since = stateChangesSinceSnapshot + sizes.stateChangesWaiting;
      if (sizes.snapshot <= EAGER_PART * extras || since * affordable >= sizes.stateChangesToCome) return 'snapshot';
    }
    return sizes.changes <= hard ? 'changes' : 'wait';
  };

  return {
    choose,
    spend(choice, bytes, sizes) {
      spent += bytes;
      if (isLarge(sizes) && (choice === 'snapshot' || sizes.stateChangesWaiting === 0)) spentOnExtras += bytes;
      stateChangesSinceSnapshot = choice === 'snapshot' ? 0 : stateChangesSinceSnapshot + sizes.stateChangesWaiting;
    },
  };
}

const isLarge = ({ agentCount }: LineSizes): boolean => agentCount > SMALL_RUN_AGENTS;
