import { basename, dirname, join } from 'node:path';
import { WorkflowError } from '../protocol/workflow-error.ts';
import type { Clock, TimerHandle } from '../runtime/ports.ts';
import { type Disk, errnoOf } from './disk.ts';
import { replaceFile } from './replace-file.ts';
import type { RunLock, RunOwner } from './run-lock.ts';
import { unwritableError } from './unwritable-error.ts';

/** How often a live run says so. One `utimes` and two `stat`s each time. */
export const HEARTBEAT_MS = 5_000;

/** What writers of a run ask before they promise anything. */
export interface Lease {
  /** Aborts, with a `REPLAY_LEASE_LOST` as its reason, once another process is known to hold the run. */
  readonly lost: AbortSignal;
  /** @throws REPLAY_LEASE_LOST when another process holds the run now; STATE_UNWRITABLE when that cannot be told */
  assertHeld(): Promise<void>;
}

/**
 * Keeps a run for this process: beats for those who cannot see it, and finds out when another process took the run.
 *
 * What fencing guarantees. A process that takes a run over, though its owner may still write, (1) makes the next owner
 * file and then (2) moves the journal and the event log into new files under the old names (`moveToNewFile`) before it reads
 * them. The old owner (3) checks its lease after each sync and before any value leaves for the script, and at each heartbeat.
 * - Every value that the old owner gave its script was in the journal before (1), so the new owner has it: (3) came before (1).
 * - Nothing the old owner writes after (2) is in a file that anybody reads: it holds a file without a name. That holds
 *   whatever its timing, stopped processes included, as it checks once more after it opened the file and before its first
 *   write. Rows it adds between (1) and (2) are whole results of agents; the new owner reads them, its own script does not.
 * - `run.json`, `output.json`, `script.js` and `args.json` are checked before they are replaced; an owner that stops for
 *   long between that check and the rename can still put its own whole version there, which the new owner replaces at its
 *   end. Files of agents are not fenced beyond `lost`: no resume reads them.
 * - Agents of the old owner that have not ended are paid for twice: fencing cannot call requests back. They are aborted at
 *   the next heartbeat or sync.
 * - File systems whose clients keep old directory entries for a while (NFS) delay (3) by so long, not (2).
 */
export class RunLease implements Lease {
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #lock: RunLock;
  readonly #findOwner: () => Promise<RunOwner | undefined>;
  readonly #lost = new AbortController();
  readonly #nextPath: string;
  #timer: TimerHandle | undefined;
  #ended = false;

  /** @param findOwner reads who holds the run, to name it */
  constructor(disk: Disk, clock: Clock, lock: RunLock, findOwner: () => Promise<RunOwner | undefined>) {
    this.#disk = disk;
    this.#clock = clock;
    this.#lock = lock;
    this.#findOwner = findOwner;
    this.#nextPath = join(dirname(lock.path), `owner.${lock.generation + 1}.json`);
    this.#arm();
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether an earlier owner may still write to files of the run. */
  get isUnsettled(): boolean {
    return this.#lock.owner.unsettled === true;
  }

  async assertHeld(): Promise<void> {
    this.lost.throwIfAborted();
    if (await this.#isHeld()) return;
    await this.#lose();
    this.lost.throwIfAborted();
  }

  /** Says that the files of the run are out of reach of earlier owners. */
  async settle(): Promise<void> {
    const { unsettled: _unsettled, ...owner } = this.#lock.owner;
    await this.assertHeld();
    await replaceFile(this.#disk, this.#lock.path, JSON.stringify(owner));
  }

  /** Stops beating and gives the run free, unless somebody else has it. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#timer?.cancel();
    const held = !this.lost.aborted && (await this.#isHeld().catch(() => true));
    if (held) await this.#lock.release();
  }

  /**
   * The owner file of this process is removed no earlier than the next one was made, and the next one no earlier than this
   * one was removed. So whatever happened meanwhile shows in these two.
   */
  async #isHeld(): Promise<boolean> {
    const [own, next] = await Promise.all([this.#exists(this.#lock.path), this.#exists(this.#nextPath)]);
    return own && !next;
  }

  async #exists(path: string): Promise<boolean> {
    try {
      await this.#disk.stat(path);
      return true;
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return false;
      throw unwritableError(path, error);
    }
  }

  #arm(): void {
    this.#timer = this.#clock.after(HEARTBEAT_MS, () => void this.#beat());
    this.#timer.unref?.();
  }

  /** A beat that fails says nothing: the next one may succeed, and the disk tells its troubles to those who write. */
  async #beat(): Promise<void> {
    try {
      await this.assertHeld();
      const seconds = this.#clock.now() / 1000;
      await this.#disk.utimes(this.#lock.path, seconds, seconds);
    } catch {
      // Either lost, which `lost` tells, or not known.
    }
    if (!this.#ended && !this.lost.aborted) this.#arm();
  }

  async #lose(): Promise<void> {
    const owner = await this.#findOwner().catch(() => undefined);
    if (!this.lost.aborted) this.#lost.abort(lostError(basename(dirname(this.#lock.path)), owner));
  }
}

function lostError(runId: string, owner: RunOwner | undefined): WorkflowError {
  const by =
    owner === undefined
      ? 'somebody else'
      : `process ${owner.pid} on ${owner.host} (since ${new Date(owner.since).toISOString()})`;
  return new WorkflowError(
    'REPLAY_LEASE_LOST',
    `Run ${runId} was taken over by ${by}, so this process stores nothing more and ends its agents. Nothing has to be done: the run goes on there, with every result that was stored before. wf show ${runId} says how it is.`,
    { data: { runId, ...(owner === undefined ? {} : { host: owner.host, pid: owner.pid, since: owner.since }) } },
  );
}
