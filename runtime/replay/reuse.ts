import { hash } from 'node:crypto';
import type { ResultSource } from '../../protocol/result-source.ts';
import type { AgentCall } from '../calls/agent-ledger.ts';
import type { AgentBackend, AgentOutcome, Redactor, SharedResult, SharedResults } from '../ports.ts';
import { type ImportedCall, ImportedResults } from './imported-results.ts';

/** An answer that no agent of this run gave. */
export interface ReusedResult extends SharedResult {
  readonly source: ResultSource;
}

export interface ReuseOptions {
  readonly sharedResults: SharedResults | undefined;
  readonly importedCalls: readonly ImportedCall[] | undefined;
  readonly backend: Pick<AgentBackend, 'name' | 'model'>;
  readonly redactor: Redactor;
  /** Working directory of the agents. */
  readonly cwd: string;
  log(level: 'info' | 'warn', text: string): void;
}

/**
 * Finds answers outside the run's own journal: those imported from another program's run, and those that earlier
 * runs of this machine shared. Leaves this run's own answers for later ones.
 *
 * Contract:
 * - A shared answer is one to the same content, of the same backend and model. Where files decide as well, because the
 *   agent used tools or is of a type that a project defines, only runs in the same working directory share it. Agents
 *   with a working copy of their own share nothing: their answer is not all they leave behind.
 * - Never shared: `null`, empty texts, and answers that hold a secret (those stay in the journal alone).
 * - Every answer is checked against the schema of the call before it is given.
 */
export class Reuse {
  readonly #options: ReuseOptions;
  readonly #imported: ImportedResults | undefined;
  readonly #writing = new Set<Promise<void>>();
  #importedCount = 0;
  #warned = false;

  constructor(options: ReuseOptions) {
    this.#options = options;
    const { importedCalls } = options;
    if (importedCalls !== undefined) this.#imported = new ImportedResults(importedCalls);
  }

  /** Must be called in the order of the calls. Never rejects. */
  async find(call: AgentCall): Promise<ReusedResult | undefined> {
    const imported = this.#imported?.take(call.index, call.options.label);
    if (imported !== undefined && fits(call, imported)) {
      this.#importedCount += 1;
      return { valueJson: imported, attempts: 0, source: 'imported' };
    }
    const shared = await this.#findShared(call);
    return shared === undefined || !fits(call, shared.valueJson) ? undefined : { ...shared, source: 'shared' };
  }

  /** Shares the answer of an agent that ran. What goes wrong is said once, and changes nothing for the run. */
  keep(call: AgentCall, outcome: AgentOutcome): void {
    const { sharedResults, backend } = this.#options;
    if (sharedResults === undefined || !this.#mayShare(call, outcome)) return;
    const id = this.#idOf(call, call.options.agent.agentType !== undefined || outcome.toolUses > 0);
    const result = { valueJson: outcome.valueJson, attempts: outcome.attempts };
    const about = { key: call.identity.key, backend: backend.name, model: this.#modelOf(call) };
    const writing = sharedResults.put(id, result, about).catch((error: unknown) => this.#notStored(call, error));
    this.#writing.add(writing);
    void writing.then(() => this.#writing.delete(writing));
  }

  /** Resolves when everything that was to be shared is. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing);
  }

  /** Says at the end of a run how much of an import was used. Nothing is said after it. */
  report(): void {
    this.#warned = true;
    const { importedCalls, log } = this.#options;
    if (importedCalls === undefined) return;
    const answered = importedCalls.filter((call) => call.resultJson !== undefined).length;
    log('info', `${this.#importedCount} of ${answered} imported answers were used, by the order of the calls.`);
  }

  async #findShared(call: AgentCall): Promise<SharedResult | undefined> {
    const { sharedResults } = this.#options;
    const { agentType, isolation } = call.options.agent;
    if (sharedResults === undefined || isolation !== undefined) return undefined;
    const anywhere = agentType === undefined ? await sharedResults.get(this.#idOf(call, false)) : undefined;
    return anywhere ?? sharedResults.get(this.#idOf(call, true));
  }

  #mayShare(call: AgentCall, { valueJson, empty }: AgentOutcome): boolean {
    if (valueJson === 'null' || empty || call.options.agent.isolation !== undefined) return false;
    if (!valueJson.isWellFormed()) return false; // half a character would not come back the same
    const value: unknown = JSON.parse(valueJson);
    return this.#options.redactor.json(value) === value;
  }

  #idOf(call: AgentCall, boundToDirectory: boolean): string {
    const { backend, cwd } = this.#options;
    const parts = [1, backend.name, this.#modelOf(call), call.identity.key, boundToDirectory ? cwd : null];
    return hash('sha256', JSON.stringify(parts), 'hex');
  }

  #modelOf(call: AgentCall): string | null {
    return call.options.agent.model ?? this.#options.backend.model ?? null;
  }

  #notStored(call: AgentCall, error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.log(
      'warn',
      `The answer of "${call.label}" could not be shared with other runs: ${reason}. The run goes on without; later failures of this kind are not shown.`,
    );
  }
}

/** Without a schema the answer of an agent is a text. */
function fits(call: AgentCall, valueJson: string): boolean {
  const { output } = call.options;
  return output === undefined ? valueJson.startsWith('"') : output.accepts(valueJson);
}
