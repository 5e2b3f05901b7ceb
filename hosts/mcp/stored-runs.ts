import { join } from 'node:path';
import { nodeDisk } from '../../cache/disk.ts';
import { systemProcesses } from '../../cache/process-table.ts';
import { listRuns, resolveRunId } from '../../cache/run-listing.ts';
import { readRunLock } from '../../cache/run-lock.ts';
import { readRunRecord } from '../../cache/run-record-file.ts';
import { runState } from '../../cache/run-state.ts';
import type { RunOutput, RunRecord } from '../../protocol/run-record.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { readOutput } from '../host-runs/read-output.ts';

/** A run as a tool shows it, wherever it was found. */
export interface FoundRun {
  readonly runId: string;
  /** Of a run that this server started. */
  readonly taskId?: string;
  readonly workflowName: string;
  readonly status: 'running' | 'interrupted' | 'completed' | 'failed' | 'stopped';
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly backend?: string;
  /** How it ended; absent while it has not. */
  readonly end?: {
    readonly output: { readonly error?: RunOutput['error'] };
    readonly resultJson: string | undefined;
    /** Absolute. */
    readonly outputFile: string;
    readonly summary?: string;
    readonly notification?: string;
  };
}

/** Reads a run from the state directory by its id or the unique beginning of it. @throws REPLAY_…, FILE_… */
export async function readStored(root: string, idOrPrefix: string): Promise<FoundRun> {
  const runId = await resolveRunId(root, idOrPrefix);
  const path = join(root, 'runs', runId);
  const found = await withState(root, await readRunRecord(nodeDisk, path));
  if (found.status === 'running' || found.status === 'interrupted') return found;
  const outputFile = join(path, 'output.json');
  const output = await readOutput(outputFile);
  const resultJson = output?.result === undefined ? undefined : JSON.stringify(output.result);
  return { ...found, end: { output: { error: output?.error }, resultJson, outputFile } };
}

/** Lists the newest runs of the state directory. */
export async function listStored(
  root: string,
  limit: number,
): Promise<{ readonly runs: readonly FoundRun[]; readonly more: number }> {
  const records = await listRuns(root);
  const runs = await Promise.all(records.slice(0, limit).map((record) => withState(root, record)));
  return { runs, more: Math.max(0, records.length - limit) };
}

async function withState(root: string, record: RunRecord): Promise<FoundRun> {
  const { runId, name, createdAt, backend } = record;
  const runPath = join(root, 'runs', runId);
  const now = (): number => systemClock.now();
  const lock = await readRunLock({ disk: nodeDisk, runPath, processes: systemProcesses(), now });
  const state = runState(record, lock);
  return {
    runId,
    workflowName: name,
    status: state === 'killed' ? 'stopped' : state,
    startedAt: createdAt,
    backend,
  };
}
