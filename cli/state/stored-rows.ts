import { join } from 'node:path';
import { nodeDisk } from '../../cache/disk.ts';
import { readEvents } from '../../cache/event-reader.ts';
import { readJournal } from '../../cache/journal-reader.ts';
import type { StoredRow } from '../../runtime/ports.ts';
import type { AskedCall } from '../../runtime/replay/stored-calls.ts';

/** What a run's files say of its calls; the run may be at work. */
export interface StoredRows {
  readonly rows: readonly StoredRow[];
  /** The calls of the last launch, in order. */
  readonly asked: readonly AskedCall[];
  /** Said to a person, for example that the last row was torn. */
  readonly warnings: readonly string[];
}

/**
 * Reads the journal and the events of a run.
 *
 * @param path of `runs/<runId>`
 * @throws REPLAY_JOURNAL_CORRUPT unless `salvage` takes the good rows; REPLAY_FORMAT_NEWER, FILE_UNREADABLE
 */
export async function readStoredRows(path: string, salvage = false): Promise<StoredRows> {
  const { rows, warnings } = await readJournal(nodeDisk, join(path, 'journal.jsonl'), { salvage });
  let asked: AskedCall[] = [];
  await readEvents(join(path, 'events.ndjson'), ({ type, data }) => {
    if (type === 'run.started') asked = [];
    if (type === 'agent.queued' || type === 'agent.cached') asked.push(data);
  }).catch(() => {
    // Without events the journal's own order counts.
  });
  return { rows, asked, warnings };
}
