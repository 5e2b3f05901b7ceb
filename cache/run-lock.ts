import { basename, join } from 'node:path';
import { WorkflowError } from '../protocol/workflow-error.ts';
import { type Disk, errnoOf, FILE_MODE, writeWhole } from './disk.ts';
import type { ProcessIdentity, ProcessTable } from './process-table.ts';
import { replaceFile } from './replace-file.ts';
import { unwritableError } from './unwritable-error.ts';

/** Content of `owner.<generation>.json`. */
export interface RunOwner extends ProcessIdentity {
  readonly v: 1;
  /** Epoch ms at which it took the run. */
  readonly since: number;
  /** Epoch ms at which it gave the run free; absent while it holds it, and for ever when it died. */
  readonly released?: number;
}

export interface LockOptions {
  readonly disk: Disk;
  /** Absolute path of `runs/<runId>`. */
  readonly runPath: string;
  readonly processes: ProcessTable;
  readonly now: () => number;
  readonly randomHex: () => string;
}

/** What the newest owner file of a run says. */
export interface FoundLock {
  readonly generation: number;
  readonly path: string;
  /** Undefined when the file cannot be understood. */
  readonly owner: RunOwner | undefined;
  /** Whether the owner still holds the run: it has not given it free and its process lives. */
  readonly live: boolean;
}

/** Held by one process at a time. */
export interface RunLock {
  /** Counts the owners of a run from 1 and never goes back. */
  readonly generation: number;
  readonly owner: RunOwner;
  release(): Promise<void>;
}

const OWNER_FILE = /^owner\.(\d+)\.json$/;
/** Where hard links are missing a new owner file is empty for a moment; it is not judged before this age. */
const SETTLED_MS = 10_000;

/**
 * Takes a run for this process.
 *
 * The owner is whoever made the file with the highest number, and the highest file is never removed, so the number never
 * goes back. Taking over means making the next file, which the file system lets one process do; a process that was slow
 * and made a lower one sees the higher one afterwards and gives way. So no two processes can both take a stale lock.
 *
 * @throws REPLAY_RUN_LIVE with host, pid and since when; STATE_UNWRITABLE
 */
export async function acquireRunLock(options: LockOptions): Promise<RunLock> {
  for (;;) {
    const found = await readRunLock(options);
    if (found?.live) {
      throw liveError(options, found);
    }
    const generation = (found?.generation ?? 0) + 1;
    const owner: RunOwner = { v: 1, ...options.processes.self, since: options.now() };
    const path = join(options.runPath, `owner.${generation}.json`);
    const made = await makeExclusively(options, path, JSON.stringify(owner)).catch((error) => {
      throw unwritableError(path, error);
    });
    if (!made) {
      continue;
    }
    if ((await newestGeneration(options)) !== generation) {
      await options.disk.unlink(path).catch(() => undefined);
      continue;
    }
    if (found !== undefined) {
      await options.disk.unlink(found.path).catch(() => undefined);
    }
    return { generation, owner, release: () => release(options, path, owner) };
  }
}

/** Reads who holds a run; undefined when nobody ever did. */
export async function readRunLock(
  options: Pick<LockOptions, 'disk' | 'runPath' | 'processes' | 'now'>,
): Promise<FoundLock | undefined> {
  for (;;) {
    const generation = await newestGeneration(options);
    if (generation === 0) {
      return undefined;
    }
    const path = join(options.runPath, `owner.${generation}.json`);
    try {
      const owner = parseOwner(await options.disk.readFile(path, 'utf8'));
      if (owner === undefined) {
        const ageMs = options.now() - (await options.disk.stat(path)).mtimeMs;
        return { generation, path, owner, live: ageMs < SETTLED_MS };
      }
      const live = owner.released === undefined && options.processes.isAlive(owner);
      return { generation, path, owner, live };
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') {
        throw unwritableError(path, error);
      }
    }
  }
}

async function newestGeneration(options: Pick<LockOptions, 'disk' | 'runPath'>): Promise<number> {
  const names = await options.disk.readdir(options.runPath);
  return names.reduce((newest, name) => Math.max(newest, Number(OWNER_FILE.exec(name)?.[1] ?? 0)), 0);
}

/** Makes a file with its content at one stroke. False when it exists. */
async function makeExclusively(options: LockOptions, path: string, content: string): Promise<boolean> {
  const { disk } = options;
  const temporary = `${path}.${options.randomHex()}.tmp`;
  await writeNew(disk, temporary, content);
  try {
    await disk.link(temporary, path);
    return true;
  } catch (error) {
    switch (errnoOf(error)) {
      case 'EEXIST':
        return false;
      case 'EPERM':
      case 'ENOTSUP':
      case 'ENOSYS':
        return await writeNew(disk, path, content).then(
          () => true,
          (cause) => {
            if (errnoOf(cause) === 'EEXIST') {
              return false;
            }
            throw cause;
          },
        );
      default:
        throw error;
    }
  } finally {
    await disk.unlink(temporary).catch(() => undefined);
  }
}

async function writeNew(disk: Disk, path: string, content: string): Promise<void> {
  const file = await disk.open(path, 'wx', FILE_MODE);
  try {
    await file.chmod(FILE_MODE);
    await writeWhole(file, Buffer.from(content));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The file stays, so that the numbers go on; on a full disk it goes, so that this process does not hold the run for ever. */
async function release(options: LockOptions, path: string, owner: RunOwner): Promise<void> {
  const released: RunOwner = { ...owner, released: options.now() };
  await replaceFile(options.disk, path, JSON.stringify(released)).catch(() =>
    options.disk.unlink(path).catch(() => undefined),
  );
}

function parseOwner(text: string): RunOwner | undefined {
  try {
    const owner = JSON.parse(text) as Partial<RunOwner> | null;
    return typeof owner?.host === 'string' && typeof owner.pid === 'number' ? (owner as RunOwner) : undefined;
  } catch {
    return undefined;
  }
}

function liveError(options: LockOptions, found: FoundLock): WorkflowError {
  const runId = basename(options.runPath);
  const { owner } = found;
  if (owner === undefined) {
    return new WorkflowError(
      'REPLAY_RUN_LIVE',
      `Another process is just taking run ${runId} (${found.path}). Try again in a few seconds.`,
      { data: { runId } },
    );
  }
  const since = new Date(owner.since).toISOString();
  const elsewhere =
    owner.host === options.processes.self.host ? '' : ` or, if that machine is gone, delete ${found.path}`;
  return new WorkflowError(
    'REPLAY_RUN_LIVE',
    `Run ${runId} is running: process ${owner.pid} on ${owner.host} holds it since ${since}. Wait for its end or stop it first${elsewhere}.`,
    { data: { runId, host: owner.host, pid: owner.pid, since: owner.since } },
  );
}
