import { join } from 'node:path';
import { nodeDisk } from '../../cache/disk.ts';
import { systemProcesses } from '../../cache/process-table.ts';
import { lastRunId, listRuns, resolveRunId } from '../../cache/run-listing.ts';
import { type RunOwner, readRunLock } from '../../cache/run-lock.ts';
import { readRunRecord } from '../../cache/run-record-file.ts';
import { type RunState, runState } from '../../cache/run-state.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { readStoredFlags, type StoredFlags } from '../flags/stored-flags.ts';

/** A run in the state directory, as it is at this moment. */
export interface StoredRun {
  readonly runId: string;
  /** Absolute path of `runs/<runId>`. */
  readonly path: string;
  readonly record: RunRecord;
  readonly state: RunState;
  /** The process that holds it; undefined when none lives. */
  readonly owner: RunOwner | undefined;
  /** What its last launch left for a resume. */
  readonly flags: StoredFlags;
}

/** Reads a run by its id or the unique beginning of it. @throws REPLAY_RUN_UNKNOWN, REPLAY_RUN_AMBIGUOUS, FILE_… */
export async function readStoredRun(root: string, idOrPrefix: string): Promise<StoredRun> {
  const runId = await resolveRunId(root, idOrPrefix);
  return describe(root, await readRunRecord(nodeDisk, join(root, 'runs', runId)));
}

/** Reads the run that was started last. @throws REPLAY_RUN_UNKNOWN when there is none */
export async function lastStoredRun(root: string): Promise<StoredRun> {
  const runId = await lastRunId(root);
  if (runId === undefined) {
    throw new WorkflowError('REPLAY_RUN_UNKNOWN', `there is no run in ${root}; start one with wf run`);
  }
  return readStoredRun(root, runId);
}

/** A run as typed: its id, or `--last`. */
export interface NamedRun {
  readonly runId: string | undefined;
  readonly last?: boolean | undefined;
}

/** Reads the one run that was named. @throws USAGE_INVALID when that is none or two, and what the readers of one throw */
export async function readNamedRun(root: string, named: NamedRun): Promise<StoredRun> {
  assertOneRun(named);
  return named.runId === undefined ? lastStoredRun(root) : readStoredRun(root, named.runId);
}

/** @throws USAGE_INVALID */
export function assertOneRun({ runId, last }: NamedRun): void {
  if ((runId === undefined) !== (last === true)) {
    throw new WorkflowError('USAGE_INVALID', 'name one run, by its id or with --last; wf list shows them');
  }
}

/** Reads all runs, newest first; those that cannot be read are told of. */
export async function listStoredRuns(
  root: string,
  onUnreadable: (runId: string, error: WorkflowError) => void,
): Promise<readonly StoredRun[]> {
  const records = await listRuns(root, nodeDisk, onUnreadable);
  return Promise.all(records.map((record) => describe(root, record)));
}

async function describe(root: string, record: RunRecord): Promise<StoredRun> {
  const path = join(root, 'runs', record.runId);
  const lock = await readRunLock({ disk: nodeDisk, runPath: path, processes: systemProcesses(), now: Date.now });
  return {
    runId: record.runId,
    path,
    record,
    state: runState(record, lock),
    owner: lock?.live === true ? lock.owner : undefined,
    flags: readStoredFlags(record.options),
  };
}
