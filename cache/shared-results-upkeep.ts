import { rm as remove, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkflowError } from '../protocol/workflow-error.ts';
import { errnoOf } from './disk.ts';
import { loadCacache } from './load-cacache.ts';
import { readMetadata, type SharedResultMetadata, sharedResultsFolder } from './shared-results.ts';
import { unwritableError } from './unwritable-error.ts';

/** One entry of the shared results. */
export interface SharedResultEntry extends Omit<SharedResultMetadata, 'v'> {
  /** Bytes of the value. */
  readonly size: number;
  /** Epoch milliseconds. */
  readonly storedAt: number;
}

/** What a check of the whole store came to. */
export interface SharedResultsCheck {
  /** Entries whose value is whole. */
  readonly kept: number;
  readonly keptBytes: number;
  /** Entries whose value was damaged or gone; they are removed. */
  readonly damaged: number;
  /** Values that belonged to no entry; they are removed. */
  readonly orphans: number;
  readonly freedBytes: number;
}

/**
 * Lists the shared results of a state directory, the latest first. Values are not read.
 *
 * @throws FILE_UNREADABLE
 */
export async function listSharedResults(root: string): Promise<readonly SharedResultEntry[]> {
  const folder = sharedResultsFolder(root);
  try {
    const { ls } = await loadCacache();
    return Object.values(await ls(folder))
      .flatMap(({ metadata, size, time }) => {
        const known = readMetadata(metadata);
        if (known === undefined) return [];
        const { v: _v, ...about } = known;
        return [{ ...about, size, storedAt: time }];
      })
      .sort((a, b) => b.storedAt - a.storedAt);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkflowError('FILE_UNREADABLE', `${folder} cannot be read: ${reason}. Check its permissions.`, {
      cause,
    });
  }
}

/**
 * Reads every value, removes what is damaged or belongs to no entry, and writes the index anew.
 *
 * Runs that write at the same time stay right; what they put in this moment may be lost, which is a miss later.
 *
 * @throws STATE_UNWRITABLE
 */
export async function verifySharedResults(root: string): Promise<SharedResultsCheck> {
  const folder = sharedResultsFolder(root);
  try {
    if (!(await exists(folder))) return { kept: 0, keptBytes: 0, damaged: 0, orphans: 0, freedBytes: 0 };
    const { verify } = await loadCacache();
    const stats = await verify(folder);
    return {
      kept: stats.totalEntries,
      keptBytes: stats.keptSize,
      damaged: stats.rejectedEntries,
      orphans: stats.reclaimedCount - stats.badContentCount,
      freedBytes: stats.reclaimedSize,
    };
  } catch (error) {
    throw unwritableError(folder, error);
  }
}

/**
 * Removes all shared results. Runs that use them go on: what they ask for is a miss. The folder itself stays, since
 * they rely on its mode.
 *
 * @throws STATE_UNWRITABLE
 */
export async function clearSharedResults(root: string): Promise<void> {
  const folder = sharedResultsFolder(root);
  try {
    const { rm } = await loadCacache();
    await rm.all(folder);
    await remove(join(folder, 'tmp'), { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    throw unwritableError(folder, error);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
