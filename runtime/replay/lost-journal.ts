import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { RunDirectory } from '../ports.ts';

/**
 * Refuses a journal without a row of a run that had results: all of it would run and be paid for again.
 *
 * @param salvage the caller wants just that
 * @throws REPLAY_JOURNAL_CORRUPT
 */
export function refuseLostJournal({ history, record, path }: RunDirectory, salvage: boolean): void {
  const { agents_done: done = 0, agents_cached: cached = 0 } = record.census ?? {};
  if (salvage || history.rows.length > 0 || done + cached === 0) return;
  const results = done + cached === 1 ? '1 result' : `${done + cached} results`;
  throw new WorkflowError(
    'REPLAY_JOURNAL_CORRUPT',
    `The journal in ${path} is missing or empty, but the run had ${results}. ` +
      'Put back a copy of journal.jsonl, or resume with --salvage: every agent then runs, and costs, again.',
    { data: { path, results: done + cached } },
  );
}
