import { join } from 'node:path';
import pLimit from 'p-limit';
import type { RunRecord } from '../protocol/run-record.ts';
import { isWorkflowError, WorkflowError } from '../protocol/workflow-error.ts';
import { type Disk, errnoOf, nodeDisk } from './disk.ts';
import { readRunRecord } from './run-record-file.ts';

/** What a run id may look like in what people and hosts give us (H-1). */
const RUN_ID = /^wf_[a-z0-9-]{6,}$/;
const PARALLEL_READS = 16;
const IDS_SHOWN = 5;

/**
 * Gives the records of all runs below a state directory, newest first.
 *
 * @param onUnreadable told of each run that is left out since its record is damaged or missing
 */
export async function listRuns(
  root: string,
  disk: Disk = nodeDisk,
  onUnreadable: (runId: string, error: WorkflowError) => void = () => {},
): Promise<RunRecord[]> {
  const limit = pLimit(PARALLEL_READS);
  const ids = await runIds(root, disk);
  const records = await Promise.all(
    ids.map((id) =>
      limit(() =>
        readRunRecord(disk, join(root, 'runs', id)).catch((error: unknown) => {
          if (!isWorkflowError(error)) throw error;
          onUnreadable(id, error);
          return undefined;
        }),
      ),
    ),
  );
  return records
    .filter((record) => record !== undefined)
    .sort((a, b) => b.createdAt - a.createdAt || (a.runId < b.runId ? 1 : -1));
}

/** The id of the run that was made last; undefined when there is none. */
export async function lastRunId(root: string, disk: Disk = nodeDisk): Promise<string | undefined> {
  return (await listRuns(root, disk))[0]?.runId;
}

/**
 * Gives the full id of a run from an id, its beginning, or its beginning without `wf_`.
 *
 * @throws REPLAY_RUN_UNKNOWN naming ids that look alike; REPLAY_RUN_AMBIGUOUS
 */
export async function resolveRunId(root: string, idOrPrefix: string, disk: Disk = nodeDisk): Promise<string> {
  const ids = await runIds(root, disk);
  if (ids.includes(idOrPrefix)) {
    return idOrPrefix;
  }
  const prefix = idOrPrefix.startsWith('wf_') ? idOrPrefix : `wf_${idOrPrefix}`;
  const matches = prefix === 'wf_' ? [] : ids.filter((id) => id.startsWith(prefix));
  const [match] = matches;
  if (match === undefined) {
    throw unknownError(root, idOrPrefix, ids);
  }
  if (matches.length > 1) {
    throw new WorkflowError(
      'REPLAY_RUN_AMBIGUOUS',
      `${matches.length} runs begin with "${idOrPrefix}": ${shown(matches)}. Give more of the id.`,
      { data: { given: idOrPrefix, matches: matches.slice(0, 100) } },
    );
  }
  return match;
}

async function runIds(root: string, disk: Disk): Promise<string[]> {
  try {
    return (await disk.readdir(join(root, 'runs'))).filter((name) => RUN_ID.test(name));
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(cause) ?? '')) {
      return [];
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkflowError('FILE_UNREADABLE', `${join(root, 'runs')} cannot be read: ${reason}.`, { cause });
  }
}

function unknownError(root: string, given: string, ids: readonly string[]): WorkflowError {
  const near = ids.filter((id) => differences(id, given) <= 3);
  const kept = ids.length === 1 ? 'wf list shows the one run there' : `wf list shows the ${ids.length} runs there`;
  const hint =
    near.length > 0
      ? `Did you mean ${shown(near)}?`
      : `${ids.length === 0 ? 'No run is kept there' : kept}; --state-dir names another place.`;
  return new WorkflowError('REPLAY_RUN_UNKNOWN', `There is no run "${given}" in ${root}. ${hint}`, {
    data: { given, root, near: near.slice(0, IDS_SHOWN) },
  });
}

/** Places at which two ids differ: ids are random, so what goes wrong is a character or two mistyped or swapped. */
function differences(id: string, given: string): number {
  const places = Math.max(id.length, given.length);
  return Array.from({ length: places }, (_, i) => id[i] !== given[i]).filter(Boolean).length;
}

function shown(ids: readonly string[]): string {
  const more = ids.length > IDS_SHOWN ? ` and ${ids.length - IDS_SHOWN} more` : '';
  return `${[...ids].sort().slice(0, IDS_SHOWN).join(', ')}${more}`;
}
