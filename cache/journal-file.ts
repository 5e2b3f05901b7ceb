import type { JournalRow } from '../protocol/journal-row.ts';
import { WorkflowError } from '../protocol/workflow-error.ts';
import type { JournalStore, ResultRowHead } from '../runtime/ports.ts';
import { ByteQueue } from './byte-queue.ts';
import { type Disk, type DiskFile, FILE_MODE, writeWhole } from './disk.ts';
import type { Repair } from './journal-repair.ts';
import { pushResultRow, pushRow } from './journal-row-bytes.ts';
import type { Lease } from './run-lease.ts';
import { unwritableError } from './unwritable-error.ts';

export interface JournalFileOptions {
  readonly disk: Disk;
  readonly path: string;
  /** Mends the file, once, before the first row is written; see `readJournal`. */
  readonly repair?: Repair | undefined;
  /** Asked after the file was opened, and after each sync. */
  readonly lease?: Lease | undefined;
}

/**
 * Appends rows to a journal with group commit.
 *
 * Contract:
 * - The file is opened, mended and written no earlier than the first append.
 * - Rows of one turn of the event loop are written together; rows that come while a batch is on its way are the next
 *   batch. A batch is synced when somebody waits for it, so callers of `durable()` in between share one promise.
 * - After a failed write or sync nothing is written any more: a file system may forget what it failed to store, so trying
 *   again could leave a gap.
 * - `durable()` resolves only while the lease is held after the sync, so what it promised is in the file that the next
 *   owner of the run reads; see `RunLease`.
 */
export class JournalFile implements JournalStore {
  readonly #options: JournalFileOptions;
  readonly #queue = new ByteQueue();
  #file: DiskFile | undefined;
  #failure: WorkflowError | undefined;
  #failureTold = false;
  #lateRow: WorkflowError | undefined;
  #appended = 0;
  #appendedResults = 0;
  #synced = 0;
  #syncedResults = 0;
  #next: PromiseWithResolvers<void> | undefined;
  #inFlight: { readonly upTo: number; readonly waiters: PromiseWithResolvers<void> | undefined } | undefined;
  #draining: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: JournalFileOptions) {
    this.#options = options;
  }

  append(row: Exclude<JournalRow, { type: 'result' }>): void {
    if (this.#accepts()) {
      pushRow(this.#queue, row);
    }
  }

  appendResult(head: ResultRowHead, resultJson: string): void {
    if (this.#accepts()) {
      this.#appendedResults += 1;
      pushResultRow(this.#queue, head, resultJson);
    }
  }

  durable(): Promise<void> {
    if (this.#lateRow !== undefined) {
      return Promise.reject(this.#lateRow);
    }
    if (this.#failure !== undefined) {
      this.#failureTold = true;
      return Promise.reject(this.#failure);
    }
    if (this.#synced === this.#appended) {
      return Promise.resolve();
    }
    if (this.#inFlight?.waiters !== undefined && this.#inFlight.upTo === this.#appended) {
      return this.#inFlight.waiters.promise;
    }
    this.#next ??= Promise.withResolvers<void>();
    this.#wake();
    return this.#next.promise;
  }

  /** Stores what is left, syncs and closes. Rejects with the failure when no `durable()` has told it yet. */
  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  /** Counts a row that comes in and wakes the writer; false when the row cannot be stored any more. */
  #accepts(): boolean {
    if (this.#closed !== undefined) {
      this.#lateRow ??= new WorkflowError('INTERNAL_INVARIANT', `A row came after ${this.#options.path} was closed.`);
      return false;
    }
    this.#appended += 1;
    if (this.#failure !== undefined) {
      return false;
    }
    this.#wake();
    return true;
  }

  #wake(): void {
    this.#draining ??= new Promise<void>((resolve) => {
      setImmediate(() => void this.#drain().then(resolve));
    });
  }

  async #drain(): Promise<void> {
    while (this.#failure === undefined && (this.#queue.bytes > 0 || this.#next !== undefined)) {
      const batch = { upTo: this.#appended, results: this.#appendedResults, waiters: this.#next };
      this.#next = undefined;
      this.#inFlight = batch;
      try {
        await this.#store(this.#queue.take(), batch.waiters !== undefined);
        if (batch.waiters !== undefined) {
          this.#synced = batch.upTo;
          this.#syncedResults = batch.results;
        }
      } catch (error) {
        this.#fail(error);
      }
      this.#inFlight = undefined;
      this.#settle(batch.waiters);
    }
    this.#settle(this.#next);
    this.#next = undefined;
    this.#draining = undefined;
  }

  async #store(pieces: readonly Uint8Array[], sync: boolean): Promise<void> {
    const { lease } = this.#options;
    lease?.lost.throwIfAborted();
    const file = this.#file ?? (await this.#open());
    for (const piece of pieces) {
      await writeWhole(file, piece);
    }
    this.#queue.recycle(pieces);
    if (sync) {
      await file.datasync();
      await lease?.assertHeld();
    }
  }

  async #open(): Promise<DiskFile> {
    const { disk, path, repair, lease } = this.#options;
    const assertHeld = async (): Promise<void> => lease?.assertHeld();
    await repair?.(assertHeld);
    const file = await disk.open(path, 'a', FILE_MODE);
    this.#file = file;
    await assertHeld();
    if (((await file.stat()).mode & 0o777) !== FILE_MODE) {
      await file.chmod(FILE_MODE);
    }
    return file;
  }

  #fail(error: unknown): void {
    const rows = this.#appended - this.#synced;
    const results = this.#appendedResults - this.#syncedResults;
    const lost = `The last ${count(rows, 'row')} of the journal, with ${count(results, 'result')} of agents, may not be stored; those agents run again when the run is resumed.`;
    this.#failure = unwritableError(this.#options.path, error, lost);
    this.#queue.take();
  }

  #settle(waiters: PromiseWithResolvers<void> | undefined): void {
    if (waiters === undefined) {
      return;
    }
    if (this.#failure === undefined) {
      waiters.resolve();
    } else {
      this.#failureTold = true;
      waiters.reject(this.#failure);
    }
  }

  async #finish(): Promise<void> {
    await this.#draining;
    const stored = this.#synced === this.#appended || this.#failure !== undefined ? undefined : this.durable();
    await stored?.catch(() => undefined).then(() => this.#draining);
    await this.#file?.close();
    if (this.#failure !== undefined && (stored !== undefined || !this.#failureTold)) {
      throw this.#failure;
    }
  }
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
