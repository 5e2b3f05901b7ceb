import { dirname, join } from 'node:path';
import type { RunOutput, RunRecord } from '../protocol/run-record.ts';
import type {
  AgentFiles,
  Clock,
  EventLog,
  JournalContents,
  JournalStore,
  Redactor,
  RunDirectory,
} from '../runtime/ports.ts';
import { QueuedAgentFiles } from './agent-files.ts';
import { type Disk, errnoOf } from './disk.ts';
import { EventLogFile } from './event-log-file.ts';
import type { EventTail } from './event-tail.ts';
import { JournalFile } from './journal-file.ts';
import type { JournalRead } from './journal-reader.ts';
import type { LayoutFile, RunLayout, TranscriptLayout } from './layouts/transcript-layout.ts';
import { TwoAgentFiles } from './layouts/two-agent-files.ts';
import { makePrivateDirectory } from './private-directory.ts';
import { replaceFile } from './replace-file.ts';
import type { RunLease } from './run-lease.ts';
import type { RunOwner } from './run-lock.ts';
import { writeRunRecord } from './run-record-file.ts';
import { unwritableError } from './unwritable-error.ts';

/** What a run directory holds when it is opened. */
export interface RunContents {
  readonly record: RunRecord;
  readonly scriptText: string;
  readonly argsJson: string | undefined;
  readonly journal: JournalRead;
  readonly eventTail: EventTail;
}

export interface RunDirectoryOptions {
  readonly disk: Disk;
  readonly path: string;
  readonly clock: Clock;
  readonly owner: RunOwner;
  readonly lease: RunLease;
  readonly redactor?: Redactor | undefined;
  readonly onSinkError?: ((error: unknown) => void) | undefined;
  readonly layout?: TranscriptLayout | undefined;
}

/** An open run directory. Its owner is written into every record that says `running`. */
export class OpenRunDirectory implements RunDirectory {
  readonly path: string;
  readonly history: JournalContents;
  readonly journal: JournalStore;
  readonly events: EventLog;
  readonly agentFiles: AgentFiles;
  readonly #options: RunDirectoryOptions;
  readonly #layout: RunLayout | undefined;
  #record: RunRecord;
  #scriptText: string;
  #argsJson: string | undefined;
  #saving: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(options: RunDirectoryOptions, contents: RunContents) {
    const { disk, path, clock, lease, redactor, onSinkError } = options;
    const { lost } = lease;
    this.#options = options;
    this.path = path;
    this.#record = contents.record;
    this.#scriptText = contents.scriptText;
    this.#argsJson = contents.argsJson;
    this.history = { rows: contents.journal.rows, warnings: contents.journal.warnings };
    this.journal = new JournalFile({ disk, path: join(path, 'journal.jsonl'), repair: contents.journal.repair, lease });
    this.events = new EventLogFile({
      disk,
      path: join(path, 'events.ndjson'),
      clock,
      tail: contents.eventTail,
      redactor,
      lease,
      onSinkError,
    });
    const own = { disk, directory: join(path, 'agents'), clock, redactor, lost };
    this.#layout = options.layout?.(contents.record, clock);
    const { form } = this.#layout ?? {};
    this.agentFiles =
      form === undefined
        ? new QueuedAgentFiles(own)
        : new TwoAgentFiles(
            new QueuedAgentFiles(own),
            new QueuedAgentFiles({ ...own, directory: form.directory, form }),
          );
    void this.#saveLayoutFiles(this.#layout?.filesAtStart(contents.scriptText) ?? []);
  }

  get runId(): string {
    return this.#record.runId;
  }

  get record(): RunRecord {
    return this.#record;
  }

  get scriptText(): string {
    return this.#scriptText;
  }

  get argsJson(): string | undefined {
    return this.#argsJson;
  }

  get leaseLost(): AbortSignal {
    return this.#options.lease.lost;
  }

  saveRecord(record: RunRecord): Promise<void> {
    const owned = ownedRecord(record, this.#options.owner);
    return this.#inOrder(async () => {
      await writeRunRecord(this.#options.disk, this.path, owned);
      this.#record = owned;
    });
  }

  saveScript(text: string): Promise<void> {
    return this.#inOrder(async () => {
      await replaceFile(this.#options.disk, join(this.path, 'script.js'), text);
      this.#scriptText = text;
    });
  }

  saveArgs(argsJson: string | undefined): Promise<void> {
    return this.#inOrder(async () => {
      await writeArgs(this.#options.disk, this.path, argsJson);
      this.#argsJson = argsJson;
    });
  }

  async saveOutput(output: Omit<RunOutput, 'result'>, resultJson: string | undefined): Promise<string> {
    const path = join(this.path, 'output.json');
    await this.#inOrder(() => replaceFile(this.#options.disk, path, outputText(output, resultJson)));
    const { record, scriptText, argsJson } = this;
    const end = { record, scriptText, argsJson, output, resultJson };
    await this.#saveLayoutFiles(this.#layout?.filesAtEnd(end) ?? []);
    return path;
  }

  /** Nothing of the run depends on them: what cannot be written is left out. */
  async #saveLayoutFiles(files: readonly LayoutFile[]): Promise<void> {
    const { disk, redactor } = this.#options;
    for (const { path, text } of files) {
      await this.#inOrder(async () => {
        await makePrivateDirectory(disk, dirname(path));
        await replaceFile(disk, path, redactor === undefined ? text : redacted(redactor, path, text));
      }).catch(() => undefined);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  /** One replacement at a time, so that the last one asked for is the one that stays. */
  #inOrder(save: () => Promise<void>): Promise<void> {
    const saved = this.#saving.then(() => this.#options.lease.assertHeld()).then(save);
    this.#saving = saved.catch(() => undefined);
    return saved;
  }

  async #finish(): Promise<void> {
    await this.#saving;
    const ends = await Promise.allSettled([this.journal.close(), this.events.close(), this.agentFiles.close()]);
    await this.#options.lease.end();
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) {
      throw failed.reason;
    }
  }
}

/** JSON is read first: a secret in it may be written with escapes. */
function redacted(redactor: Redactor, path: string, text: string): string {
  return path.endsWith('.json') ? `${JSON.stringify(redactor.json(JSON.parse(text)))}\n` : redactor.text(text);
}

/** Writes `args.json`, or takes it away. */
export async function writeArgs(disk: Disk, runPath: string, argsJson: string | undefined): Promise<void> {
  const path = join(runPath, 'args.json');
  if (argsJson !== undefined) {
    await replaceFile(disk, path, argsJson);
    return;
  }
  await disk.unlink(path).catch((error) => {
    if (errnoOf(error) !== 'ENOENT') {
      throw unwritableError(path, error);
    }
  });
}

/** Names the process that holds a running run in its record. */
export function ownedRecord(record: RunRecord, owner: RunOwner): RunRecord {
  if (record.status !== 'running') {
    return record;
  }
  const { host, pid, startedAt } = owner;
  return { ...record, owner: { host, pid, ...(startedAt === undefined ? {} : { startedAt }) } };
}

/** Puts the result, as text, behind `status` and `runId`. Source: spec C-6. */
function outputText(output: Omit<RunOutput, 'result'>, resultJson: string | undefined): string {
  const { status, runId, ...rest } = output;
  const head = JSON.stringify({ status, runId }).slice(0, -1);
  const result = resultJson === undefined ? '' : `,"result":${resultJson}`;
  return `${head}${result},${JSON.stringify(rest).slice(1)}\n`;
}
