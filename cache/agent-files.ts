import { join } from 'node:path';
import type { WorkflowError } from '../protocol/workflow-error.ts';
import type { AgentFiles, AgentMeta, Redactor, TranscriptRow } from '../runtime/ports.ts';
import { type Disk, FILE_MODE, writeWhole } from './disk.ts';
import { makePrivateDirectory } from './private-directory.ts';
import { unwritableError } from './unwritable-error.ts';

/** Files that are open at once; each is opened for one batch of rows and closed again. */
const PARALLEL_WRITES = 8;

export interface AgentFileOptions {
  readonly disk: Disk;
  /** `runs/<runId>/agents`; made when the first file needs it. */
  readonly directory: string;
  readonly redactor?: Redactor | undefined;
}

/** What waits for one file. */
interface Pending {
  readonly flags: 'w' | 'a';
  text: string;
}

/** Writes `<id>.meta.json` and `<id>.jsonl` of the agents of a run. Rows of one agent keep their order. */
export class QueuedAgentFiles implements AgentFiles {
  readonly #options: AgentFileOptions;
  /** Files with text to write, oldest first; a file that is being written stays out of it until that is done. */
  readonly #waiting = new Map<string, Pending>();
  readonly #writing = new Set<string>();
  #workers = 0;
  #failure: WorkflowError | undefined;
  #directoryMade: Promise<void> | undefined;
  #idle: PromiseWithResolvers<void> | undefined;
  #modeIsKept: boolean | undefined;

  constructor(options: AgentFileOptions) {
    this.#options = options;
  }

  writeMeta(meta: AgentMeta): void {
    const clean = this.#options.redactor?.json(meta) ?? meta;
    this.#waiting.delete(`${meta.agentId}.meta.json`);
    this.#enqueue(`${meta.agentId}.meta.json`, 'w', `${JSON.stringify(clean)}\n`);
  }

  appendTranscript(agentId: string, row: TranscriptRow): void {
    const clean = this.#options.redactor?.json(row) ?? row;
    this.#enqueue(`${agentId}.jsonl`, 'a', `${JSON.stringify(clean)}\n`);
  }

  async close(): Promise<void> {
    if (this.#workers > 0) {
      this.#idle ??= Promise.withResolvers<void>();
      await this.#idle.promise;
    }
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  #enqueue(name: string, flags: 'w' | 'a', text: string): void {
    if (this.#failure !== undefined) {
      return;
    }
    const pending = this.#waiting.get(name);
    if (pending === undefined) {
      this.#waiting.set(name, { flags, text });
    } else {
      pending.text += text;
    }
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
        await this.#write(join(this.#options.directory, name), pending ?? { flags: 'a', text: '' });
      } catch (error) {
        this.#failure ??= unwritableError(join(this.#options.directory, name), error);
        this.#waiting.clear();
      }
      this.#writing.delete(name);
    }
    this.#workers -= 1;
    if (this.#workers === 0) {
      this.#idle?.resolve();
      this.#idle = undefined;
    }
  }

  /** The oldest file that nobody writes to. */
  #take(): string | undefined {
    for (const name of this.#waiting.keys()) {
      if (!this.#writing.has(name)) {
        return name;
      }
    }
    return undefined;
  }

  async #write(path: string, pending: Pending): Promise<void> {
    const file = await this.#options.disk.open(path, pending.flags, FILE_MODE);
    try {
      this.#modeIsKept ??= ((await file.stat()).mode & 0o777) === FILE_MODE;
      if (!this.#modeIsKept) {
        await file.chmod(FILE_MODE);
      }
      await writeWhole(file, Buffer.from(pending.text));
    } finally {
      await file.close();
    }
  }
}
