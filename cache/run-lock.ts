import { basename, join } from 'node:path';
import { WorkflowError } from '../protocol/workflow-error.ts';
import { type Disk, errnoOf } from './disk.ts';
import { makeExclusively } from './exclusive-file.ts';
import type { ProcessIdentity, ProcessTable } from './process-table.ts';
import { replaceFile } from './replace-file.ts';
import { unwritableError } from './unwritable-error.ts';

/** Content of `owner.<generation>.json`. The time of the file is the owner's last heartbeat. */
export interface RunOwner extends ProcessIdentity {
  readonly v: 1;
  /** Epoch ms at which it took the run. */
  readonly since: number;
  /** Epoch ms at which it gave the run free; absent while it holds it, and for ever when it died. */
  readonly released?: number;
  /** Set until the files of the run are out of reach of an earlier owner that may still write. */
  readonly unsettled?: true;
}

export interface LockOptions {
  readonly disk: Disk;
  /** Absolute path of `runs/<runId>`. */
  readonly runPath: string;
  readonly processes: ProcessTable;
  readonly now: () => number;
  readonly randomHex: () => string;
  /** Takes the run though its owner lives; the owner is fenced. Of several that try at once one gets it. */
  readonly takeOver?: boolean;
}

/** What the newest owner file of a run says. */
export interface FoundLock {
  readonly generation: number;
  readonly path: string;
  /** Undefined when the file cannot be understood. */
  readonly owner: RunOwner | undefined;
  /** Whether the owner still holds the run: it has not given it free, and it lives or was heard of lately. */
  readonly live: boolean;
  /** Whether the owner, or one before it, may still write: none has given the run free, none is known to be dead. */
  readonly mayWrite: boolean;
}

/** Held by one process at a time. */
export interface RunLock {
  /** Counts the owners of a run from 1 and never goes back: the fencing token. */
  readonly generation: number;
  readonly path: string;
  readonly owner: RunOwner;
  release(): Promise<void>;
}

/** How long an owner that cannot be looked at may be silent. Six heartbeats; clocks of hosts may differ by some seconds. */
export const STALE_MS = 30_000;
const OWNER_FILE = /^owner\.(\d+)\.json$/;
/** Where hard links are missing a new owner file is empty for a moment; it is not judged before this age. */
const SETTLED_MS = 10_000;
/** The time of an owner file whose owner gave the run free on a full disk. */
const RELEASED_MTIME_MS = 0;

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
  let overridden: number | undefined;
  for (;;) {
    const found = await readRunLock(options);
    if (options.takeOver === true) overridden ??= found?.generation;
    if (found?.live && found.generation !== overridden) throw liveError(options, found);
    const generation = (found?.generation ?? 0) + 1;
    const owner: RunOwner = {
      v: 1,
      ...options.processes.self,
      since: options.now(),
      ...(found?.mayWrite === true ? { unsettled: true } : {}),
    };
    const path = join(options.runPath, `owner.${generation}.json`);
    if (!(await makeOwnerFile(options, path, owner))) continue;
    const generations = await ownerGenerations(options);
    if (generations.at(-1) !== generation) {
      await options.disk.unlink(path).catch(() => undefined);
      continue;
    }
    await removeOldOwners(options, generations);
    return { generation, path, owner, release: () => release(options, path, owner) };
  }
}

/** Reads who holds a run; undefined when nobody ever did. */
export async function readRunLock(
  options: Pick<LockOptions, 'disk' | 'runPath' | 'processes' | 'now'>,
): Promise<FoundLock | undefined> {
  for (;;) {
    const generation = (await ownerGenerations(options)).at(-1);
    if (generation === undefined) return undefined;
    const path = join(options.runPath, `owner.${generation}.json`);
    try {
      const owner = parseOwner(await options.disk.readFile(path, 'utf8'));
      return { generation, path, owner, ...(await judge(options, path, owner)) };
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw unwritableError(path, error);
    }
  }
}

/** The process itself decides where it can be looked at, its last heartbeat elsewhere. */
async function judge(
  options: Pick<LockOptions, 'disk' | 'processes' | 'now'>,
  path: string,
  owner: RunOwner | undefined,
): Promise<Pick<FoundLock, 'live' | 'mayWrite'>> {
  const { disk, processes, now } = options;
  const settled = owner?.unsettled !== true;
  if (owner?.released !== undefined) return { live: false, mayWrite: !settled };
  const state = owner === undefined ? 'unknown' : processes.stateOf(owner);
  if (state === 'dead') return { live: false, mayWrite: !settled };
  const { mtimeMs } = await disk.stat(path);
  if (owner !== undefined && mtimeMs === RELEASED_MTIME_MS) return { live: false, mayWrite: !settled };
  if (state === 'alive') return { live: true, mayWrite: true };
  return { live: now() - mtimeMs < (owner === undefined ? SETTLED_MS : STALE_MS), mayWrite: true };
}

async function ownerGenerations({ disk, runPath }: Pick<LockOptions, 'disk' | 'runPath'>): Promise<number[]> {
  const names = await disk.readdir(runPath);
  return names
    .map((name) => Number(OWNER_FILE.exec(name)?.[1] ?? 0))
    .filter((generation) => generation > 0)
    .sort((a, b) => a - b);
}

function makeOwnerFile(options: LockOptions, path: string, owner: RunOwner): Promise<boolean> {
  const file = { path, content: JSON.stringify(owner), mtimeMs: owner.since, randomHex: options.randomHex() };
  return makeExclusively(options.disk, file).catch((error) => {
    throw unwritableError(path, error);
  });
}

/** Lowest first: an owner whose own file is there may then trust that the next one was not removed (see `RunLease`). */
async function removeOldOwners({ disk, runPath }: LockOptions, generations: readonly number[]): Promise<void> {
  for (const generation of generations.slice(0, -1)) {
    await disk.unlink(join(runPath, `owner.${generation}.json`)).catch(() => undefined);
  }
}

/** The file stays, so that the numbers go on. Changing its time needs no room on a full disk. */
async function release({ disk, now }: LockOptions, path: string, owner: RunOwner): Promise<void> {
  const released: RunOwner = { ...owner, released: now() };
  await replaceFile(disk, path, JSON.stringify(released)).catch(() =>
    disk.utimes(path, RELEASED_MTIME_MS, RELEASED_MTIME_MS).catch(() => undefined),
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

function liveError(options: LockOptions, { owner, path }: FoundLock): WorkflowError {
  const runId = basename(options.runPath);
  if (owner === undefined) {
    return new WorkflowError(
      'REPLAY_RUN_LIVE',
      `Another process is just taking run ${runId} (${path}). Try again in a few seconds.`,
      { data: { runId } },
    );
  }
  const since = new Date(owner.since).toISOString();
  const silence =
    options.processes.stateOf(owner) === 'unknown'
      ? ` It cannot be looked at from here: if it is gone, the run is free ${STALE_MS / 1000} s after its last heartbeat.`
      : '';
  return new WorkflowError(
    'REPLAY_RUN_LIVE',
    `Run ${runId} is running: process ${owner.pid} on ${owner.host} holds it since ${since}. Wait for its end or stop it first.${silence}`,
    { data: { runId, host: owner.host, pid: owner.pid, since: owner.since } },
  );
}
