import { join, resolve } from 'node:path';
import pLimit from 'p-limit';
import type { SharedResult, SharedResultAbout, SharedResults } from '../runtime/ports.ts';
import { nodeDisk } from './disk.ts';
import { loadCacache } from './load-cacache.ts';
import { makePrivateDirectory } from './private-directory.ts';

export interface SharedResultsOptions {
  /** The state directory; the store is its folder `shared-results`, made when the first result is put. */
  readonly root: string;
}

/** What stands beside the value of an entry, in the index. */
export interface SharedResultMetadata extends SharedResultAbout {
  /** Version of this form. */
  readonly v: 1;
  readonly attempts: number;
}

/** A fan-out may ask for thousands at once; a process has a limited number of open files. */
const PARALLEL_FILES = 16;

/** The folder of the store within a state directory. */
export function sharedResultsFolder(root: string): string {
  return join(resolve(root), 'shared-results');
}

/**
 * Opens the results that all runs of this machine share, kept by `cacache`: values by the SHA-512 of their bytes, and an
 * index from ids to them whose every line is hashed.
 *
 * Contract:
 * - Costs nothing until it is asked: the library is loaded then.
 * - Any number of processes may read and write at once: values are renamed into place, index lines are appended whole.
 * - An entry whose value or line is damaged is a miss, and the damaged value goes, so that the next `put` heals it.
 */
export function createSharedResults({ root }: SharedResultsOptions): SharedResults {
  const folder = sharedResultsFolder(root);
  const limit = pLimit(PARALLEL_FILES);
  let made: Promise<void> | undefined;
  return {
    get: (id) => limit(() => getResult(folder, id)),
    put: (id, result, about) =>
      limit(async () => {
        made ??= makePrivateDirectory(nodeDisk, folder);
        await made;
        await putResult(folder, id, result, about);
      }),
  };
}

async function getResult(folder: string, id: string): Promise<SharedResult | undefined> {
  try {
    const { get } = await loadCacache();
    const entry = await get.info(folder, id);
    const metadata = entry === null ? undefined : readMetadata(entry.metadata);
    if (entry === null || metadata === undefined) return undefined;
    const value = await readValue(folder, entry.integrity);
    return value === undefined ? undefined : { valueJson: value.toString('utf8'), attempts: metadata.attempts };
  } catch {
    return undefined;
  }
}

/** The library never writes over a value that is there, so a damaged one has to go before it can be put again. */
async function readValue(folder: string, integrity: string): Promise<Buffer | undefined> {
  const { get, rm } = await loadCacache();
  try {
    return await get.byDigest(folder, integrity);
  } catch {
    await rm.content(folder, integrity).catch(() => {});
    return undefined;
  }
}

async function putResult(folder: string, id: string, result: SharedResult, about: SharedResultAbout): Promise<void> {
  const { put } = await loadCacache();
  const metadata: SharedResultMetadata = { v: 1, ...about, attempts: result.attempts };
  await put(folder, id, Buffer.from(result.valueJson, 'utf8'), { metadata });
}

/** Entries of another version, or that somebody else put there, are none of ours. */
export function readMetadata(stored: unknown): SharedResultMetadata | undefined {
  const { v, key, backend, model, attempts } = (stored ?? {}) as Partial<Record<keyof SharedResultMetadata, unknown>>;
  if (v !== 1 || typeof key !== 'string' || typeof backend !== 'string' || typeof attempts !== 'number') {
    return undefined;
  }
  return { v, key, backend, model: typeof model === 'string' ? model : null, attempts };
}
