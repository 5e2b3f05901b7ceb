import type { AgentFiles, AgentMeta, TranscriptRow } from '../../runtime/ports.ts';

/** Writes the files of agents twice: as ours, and in the form of another program, whose readers are told of the latter. */
export class TwoAgentFiles implements AgentFiles {
  readonly #own: Required<AgentFiles>;
  readonly #other: AgentFiles;

  constructor(own: Required<AgentFiles>, other: AgentFiles) {
    this.#own = own;
    this.#other = other;
  }

  writeMeta(meta: AgentMeta): void {
    this.#own.writeMeta(meta);
    this.#other.writeMeta(meta);
  }

  appendTranscript(agentId: string, row: TranscriptRow): void {
    this.#own.appendTranscript(agentId, row);
    this.#other.appendTranscript(agentId, row);
  }

  transcriptPath(agentId: string): string {
    return this.#other.transcriptPath(agentId);
  }

  async saved(agentId: string): Promise<void> {
    await Promise.all([this.#own.saved(agentId), this.#other.saved(agentId)]);
  }

  keep(agentId: string, name: string, text: string): Promise<string> {
    return this.#own.keep(agentId, name, text);
  }

  async close(): Promise<void> {
    const ends = await Promise.allSettled([this.#own.close(), this.#other.close()]);
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
