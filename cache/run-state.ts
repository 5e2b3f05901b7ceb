import type { RunRecord } from '../protocol/run-record.ts';

/** What a listing says of a run: its stored status, or `interrupted` when it stopped without an end. */
export type RunState = RunRecord['status'] | 'interrupted';

/** Gives the state of a run from its record and its lock. A `running` record that nobody holds was interrupted. */
export function runState(record: Pick<RunRecord, 'status'>, lock: { readonly live: boolean } | undefined): RunState {
  return record.status === 'running' && lock?.live !== true ? 'interrupted' : record.status;
}
