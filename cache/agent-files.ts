import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { WorkflowError } from '../protocol/workflow-error.ts';
import type { AgentFiles, AgentMeta, Clock, Redactor, TimerHandle, TranscriptRow } from '../runtime/ports.ts';
import { type Disk, FILE_MODE } from './disk.ts';
import type { TranscriptForm } from './layouts/transcript-layout.ts';
import { makePrivateDirectory } from './private-directory.ts';
import { unwritableError } from './unwritable-error.ts';

/** Files that are open at once; each is opened for one batch of rows and closed again. */
const PARALLEL_WRITES = 8;

/** Rows wait this long for others of their agent, so that a short agent's transcript is written in one go. */
const GATHER_MS = 250;
/** What waits for one file beyond this is written at once. */
const GATHERED_CHARACTERS = 64 * 1024;

export interface AgentFileOptions {
  readonly disk: Disk;
  /** `runs/<runId>/agents`; made when the first file needs it. */
  readonly directory: string;
  readonly clock: Clock;
  readonly redactor?: Redactor | undefined;
  /** Once it aborts nothing is written any more: another process holds the run. */
  readonly lost?: AbortSignal | undefined;
  /** How files are named and written. @defaultValue as they come, in `<id>.jsonl` and `<id>.meta.json` */
  readonly form?: TranscriptForm | undefined;
}

/** What waits for one file. */
interface Pending {
  readonly flag: 'w' | 'a';
  text: string;
  /** It waits for more. */
  gathering: boolean;
}

/** Writes `<id>.meta.json` and `<id>.jsonl` of the agents of a run. Rows of one agent keep their order. */
export class QueuedAgentFiles implements AgentFiles {
  readonly #options: AgentFileOptions;
  /** Text that waits, by file name. */
  readonly #waiting = new Map<string, Pending>();
  /** Names with waiting text that nobody writes to, oldest first from `#readyFrom` on. */
  #ready: string[] = [];
  #readyFrom = 0;
  readonly #writing = new Set<string>();
  /** Names whose text is gathered; its timer runs while there are any. */
  readonly #gathering = new Set<string>();
  #gatherTimer: TimerHandle | undefined;
  #workers = 0;
  #failure: WorkflowError | undefined;
  #directoryMade: Promise<void> | undefined;
  #idle: PromiseWithResolvers<void> | undefined;
  /** Who waits for a file to hold what was given for it. */
  readonly #savedWaiters = new Map<string, PromiseWithResolvers<void>>();
  /** False under an umask that takes rights from the owner. */
  #modeIsKept: boolean | undefined;

  constructor(options: AgentFileOptions) {
    this.#options = options;
  }

  writeMeta(meta: AgentMeta): void {
    const clean = this.#options.redactor?.json(meta) ?? meta;
    const shown = this.#options.form?.meta(clean) ?? clean;
    this.#enqueue(`${this.#baseName(meta.agentId)}.meta.json`, 'w', `${JSON.stringify(shown)}\n`);
  }

  appendTranscript(agentId: string, row: TranscriptRow): void {
    const clean = this.#options.redactor?.json(row) ?? row;
    const rows = this.#options.form?.rows(agentId, clean) ?? [clean];
    if (rows.length === 0) return;
    const name = `${this.#baseName(agentId)}.jsonl`;
    const text = rows.map((one) => `${JSON.stringify(one)}\n`).join('');
    const pending = this.#waiting.get(name);
    if (pending === undefined) {
      this.#gather(name, text);
      return;
    }
    pending.text += text;
    if (pending.gathering && pending.text.length > GATHERED_CHARACTERS) {
      this.#release(name);
    }
  }

  transcriptPath(agentId: string): string {
    return join(this.#options.directory, `${this.#baseName(agentId)}.jsonl`);
  }

  #baseName(agentId: string): string {
    return this.#options.form?.fileName(agentId) ?? agentId;
  }

  async saved(agentId: string): Promise<void> {
    await this.#savedOf(`${this.#baseName(agentId)}.jsonl`);
    await this.#savedOf(`${this.#baseName(agentId)}.meta.json`);
  }

  #savedOf(name: string): Promise<void> {
    if (!this.#waiting.has(name) && !this.#writing.has(name)) {
      return Promise.resolve();
    }
    this.#release(name);
    const waiter = this.#savedWaiters.get(name) ?? Promise.withResolvers<void>();
    this.#savedWaiters.set(name, waiter);
    return waiter.promise;
  }

  async keep(agentId: string, name: string, text: string): Promise<string> {
    const { disk, directory, redactor } = this.#options;
    this.#directoryMade ??= makePrivateDirectory(disk, directory);
    await this.#directoryMade;
    const folder = join(directory, agentId);
    await makePrivateDirectory(disk, folder);
    const safeName = name.replace(/[^A-Za-z0-9-]+/g, '-').slice(0, 60);
    const path = join(folder, `${safeName}-${randomBytes(6).toString('hex')}.txt`);
    const clean = redactor?.text(text) ?? text;
    await this.#write(path, { flag: 'w', text: clean.toWellFormed(), gathering: false });
    return path;
  }

  async close(): Promise<void> {
    this.#releaseAll();
    if (this.#workers > 0) {
      this.#idle ??= Promise.withResolvers<void>();
      await this.#idle.promise;
    }
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  #enqueue(name: string, flag: 'w' | 'a', text: string): void {
    if (this.#isOver) return;
    const pending = this.#waiting.get(name);
    if (pending !== undefined) pending.text = text;
    else {
      this.#waiting.set(name, { flag, text, gathering: false });
      this.#makeReady(name);
    }
  }

  get #isOver(): boolean {
    return this.#failure !== undefined || this.#options.lost?.aborted === true;
  }

  #gather(name: string, text: string): void {
    if (this.#isOver) return;
    this.#waiting.set(name, { flag: 'a', text, gathering: true });
    this.#gathering.add(name);
    this.#gatherTimer ??= this.#options.clock.after(GATHER_MS, () => this.#releaseAll());
  }

  #releaseAll(): void {
    this.#gatherTimer?.cancel();
    this.#gatherTimer = undefined;
    for (const name of this.#gathering) this.#release(name);
  }

  #release(name: string): void {
    const pending = this.#waiting.get(name);
    if (!this.#gathering.delete(name) || pending === undefined) return;
    pending.gathering = false;
    this.#makeReady(name);
  }

  #makeReady(name: string): void {
    if (!this.#writing.has(name)) this.#ready.push(name);
    if (this.#workers < PARALLEL_WRITES) {
      this.#workers += 1;
      void this.#work();
    }
  }

  async #work(): Promise<void> {
    for (let name = this.#take(); name !== undefined; name = this.#take()) {
      const pending = this.#waiting.get(name);
      this.#waiting.delete(name);
      this.#writing.add(name);
      try {
        this.#directoryMade ??= makePrivateDirectory(this.#options.disk, this.#options.directory);
        await this.#directoryMade;
        if (pending !== undefined) await this.#write(join(this.#options.directory, name), pending);
      } catch (error) {
        this.#failure ??= unwritableError(join(this.#options.directory, name), error);
        this.#waiting.clear();
        this.#gathering.clear();
        this.#ready = [];
        this.#readyFrom = 0;
        for (const waiter of this.#savedWaiters.values()) {
          waiter.resolve();
        }
        this.#savedWaiters.clear();
      }
      this.#writing.delete(name);
      if (this.#waiting.get(name)?.gathering === false) this.#ready.push(name);
      else {
        this.#savedWaiters.get(name)?.resolve();
        this.#savedWaiters.delete(name);
      }
    }
    this.#workers -= 1;
    if (this.#workers === 0) {
      this.#idle?.resolve();
      this.#idle = undefined;
    }
  }

  #take(): string | undefined {
    const name = this.#ready[this.#readyFrom];
    this.#readyFrom += 1;
    if (this.#readyFrom >= this.#ready.length) {
      this.#ready = [];
      this.#readyFrom = 0;
    }
    return name;
  }

  async #write(path: string, pending: Pending): Promise<void> {
    const { disk, lost } = this.#options;
    if (lost?.aborted === true) {
      return;
    }
    await disk.writeFile(path, pending.text, { flag: pending.flag, mode: FILE_MODE });
    this.#modeIsKept ??= ((await disk.stat(path)).mode & 0o777) === FILE_MODE;
    if (!this.#modeIsKept) {
      await disk.chmod(path, FILE_MODE);
    }
  }
}
