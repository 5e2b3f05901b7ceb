import { randomBytes as systemRandomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { RunRecord } from '../protocol/run-record.ts';
import { WorkflowError } from '../protocol/workflow-error.ts';
import type { Clock, Redactor, RunDirectory, RunStore, TimerHandle } from '../runtime/ports.ts';
import { type Disk, errnoOf, nodeDisk, syncDirectory } from './disk.ts';
import { findEventTail } from './event-tail.ts';
import { readJournal } from './journal-reader.ts';
import type { TranscriptLayout } from './layouts/transcript-layout.ts';
import { moveToNewFile } from './move-to-new-file.ts';
import { makeOne, makePrivateDirectory } from './private-directory.ts';
import { type ProcessTable, systemProcesses } from './process-table.ts';
import { replaceFile } from './replace-file.ts';
import { OpenRunDirectory, ownedRecord, type RunContents, writeArgs } from './run-directory.ts';
import { RunLease } from './run-lease.ts';
import { resolveRunId } from './run-listing.ts';
import { acquireRunLock, type RunLock, readRunLock } from './run-lock.ts';
import { readRunRecord, readText, writeRunRecord } from './run-record-file.ts';
import { sweepTemporaryFiles } from './sweep-temporary-files.ts';
import { unwritableError } from './unwritable-error.ts';

export interface RunStoreOptions {
  /** The state directory; made when the first run needs it. */
  readonly root: string;
  /** @defaultValue the time of this machine */
  readonly clock?: Clock;
  /** @defaultValue `node:crypto` */
  readonly randomBytes?: (size: number) => Uint8Array;
  /** Takes secrets out of events and of the files of agents; the journal stays whole. */
  readonly redactor?: Redactor;
  /** Another program's way to file transcripts, in which they are written as well (H-19). @defaultValue none */
  readonly layout?: TranscriptLayout | undefined;
  /** Told of each event sink that threw and was taken off. */
  readonly onSinkError?: (error: unknown) => void;
  /** @defaultValue the file system of this machine */
  readonly disk?: Disk;
  /** @defaultValue the processes of this machine */
  readonly processes?: ProcessTable;
}

interface Store extends RunStoreOptions {
  readonly clock: Clock;
  readonly disk: Disk;
  readonly processes: ProcessTable;
  readonly randomHex: (characters: number) => string;
}

/** Keeps runs in files below a state directory (C-9). */
export function createRunStore(options: RunStoreOptions): RunStore {
  const randomBytes = options.randomBytes ?? systemRandomBytes;
  const store: Store = {
    ...options,
    root: resolve(options.root),
    clock: options.clock ?? { now: () => Date.now(), after: startTimer },
    disk: options.disk ?? nodeDisk,
    processes: options.processes ?? systemProcesses(),
    randomHex: (characters) =>
      Buffer.from(randomBytes(Math.ceil(characters / 2)))
        .toString('hex')
        .slice(0, characters),
  };
  return {
    root: store.root,
    create: (init) => createRun(store, init),
    open: (runId, { salvage = false, takeOver = false } = {}) => openRun(store, runId, salvage, takeOver),
  };
}

async function createRun(store: Store, init: Parameters<RunStore['create']>[0]): Promise<RunDirectory> {
  const { disk } = store;
  const { runId, path } = await makeRunDirectory(store);
  const { owner, lease } = await takeRun(store, path, false);
  try {
    const record: RunRecord = ownedRecord({ ...init.record, runId }, owner);
    await replaceFile(disk, join(path, 'script.js'), init.scriptText);
    await writeArgs(disk, path, init.argsJson);
    await writeRunRecord(disk, path, record);
    await syncDirectory(disk, join(store.root, 'runs')).catch((error) => {
      throw unwritableError(path, error);
    });
    const contents = { ...(await readLogs(store, path, false)), ...init, record };
    return openDirectory(store, path, { owner, lease }, contents);
  } catch (error) {
    await lease.end();
    throw error;
  }
}

async function openRun(store: Store, runId: string, salvage: boolean, takeOver: boolean): Promise<RunDirectory> {
  const { disk } = store;
  if ((await resolveRunId(store.root, runId, disk)) !== runId) {
    throw new WorkflowError('REPLAY_RUN_UNKNOWN', `There is no run "${runId}" in ${store.root}. Give the whole id.`);
  }
  const path = join(store.root, 'runs', runId);
  const { owner, lease } = await takeRun(store, path, takeOver);
  try {
    await shutOut(store, path, lease);
    const record = await readRunRecord(disk, path);
    const scriptText = await readText(disk, join(path, 'script.js'));
    const argsJson = await readText(disk, join(path, 'args.json')).catch((error: WorkflowError) => {
      if (error.code === 'FILE_MISSING' && record.argsSha256 === null) {
        return undefined;
      }
      throw error;
    });
    const logs = await readLogs(store, path, salvage);
    return openDirectory(store, path, { owner, lease }, { record, scriptText, argsJson, ...logs });
  } catch (error) {
    await lease.end();
    throw error;
  }
}

/** A run that this process holds. */
interface Hold {
  readonly owner: RunLock['owner'];
  readonly lease: RunLease;
}

async function takeRun(store: Store, runPath: string, takeOver: boolean): Promise<Hold> {
  const { disk, processes, clock, randomHex } = store;
  const options = { disk, runPath, processes, now: () => clock.now(), randomHex: () => randomHex(8), takeOver };
  const lock = await acquireRunLock(options);
  const findOwner = async () => (await readRunLock(options))?.owner;
  return { owner: lock.owner, lease: new RunLease(disk, clock, lock, findOwner) };
}

/** Puts the logs out of reach of an earlier owner that may still write, before they are read; see `RunLease`. */
async function shutOut({ disk }: Store, runPath: string, lease: RunLease): Promise<void> {
  await sweepTemporaryFiles(disk, runPath);
  if (!lease.isUnsettled) return;
  await moveToNewFile(disk, join(runPath, 'journal.jsonl'));
  await moveToNewFile(disk, join(runPath, 'events.ndjson'));
  await lease.settle();
}

function openDirectory(store: Store, path: string, hold: Hold, contents: RunContents): RunDirectory {
  const { disk, clock, redactor, onSinkError, layout } = store;
  return new OpenRunDirectory({ disk, path, clock, ...hold, redactor, onSinkError, layout }, contents);
}

async function readLogs(
  store: Store,
  path: string,
  salvage: boolean,
): Promise<Pick<RunContents, 'journal' | 'eventTail'>> {
  const journal = await readJournal(store.disk, join(path, 'journal.jsonl'), { salvage });
  const events = join(path, 'events.ndjson');
  const eventTail = await findEventTail(store.disk, events).catch((cause) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkflowError('FILE_UNREADABLE', `${events} cannot be read: ${reason}.`, { cause });
  });
  return { journal, eventTail };
}

async function makeRunDirectory(store: Store): Promise<{ readonly runId: string; readonly path: string }> {
  const runs = join(store.root, 'runs');
  await makePrivateDirectory(store.disk, runs);
  for (;;) {
    const digits = store.randomHex(11);
    const runId = `wf_${digits.slice(0, 8)}-${digits.slice(8)}`;
    const path = join(runs, runId);
    try {
      await makeOne(store.disk, path);
      return { runId, path };
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') {
        throw unwritableError(path, error);
      }
    }
  }
}

function startTimer(delayMs: number, callback: () => void): TimerHandle {
  const timer = setTimeout(callback, delayMs);
  return { cancel: () => clearTimeout(timer), unref: () => timer.unref() };
}
