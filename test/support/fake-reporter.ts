import type { AgentReporter, AgentUsage, Redactor, TranscriptRow, TransientFailure } from '../../runtime/ports.ts';

export interface ReportedTool {
  readonly id: string;
  readonly name: string;
  ok?: boolean;
}

/** A reporter that remembers what it was told, and grants every retry at once until `maxRetries` are used up. */
export class FakeReporter implements AgentReporter {
  readonly maxRetries: number;
  readonly usages: AgentUsage[] = [];
  readonly rows: TranscriptRow[] = [];
  readonly retries: TransientFailure[] = [];
  readonly tools: ReportedTool[] = [];
  readonly warnings: string[] = [];
  readonly redactor?: Redactor;
  signsOfLife = 0;
  readonly #onAlive: () => void;

  constructor(
    options: { readonly maxRetries?: number; readonly onAlive?: () => void; readonly redactor?: Redactor } = {},
  ) {
    if (options.redactor !== undefined) this.redactor = options.redactor;
    this.maxRetries = options.maxRetries ?? 5;
    this.#onAlive = options.onAlive ?? (() => {});
  }

  get outputTokens(): number {
    return this.usages.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  }

  alive(): void {
    this.signsOfLife += 1;
    this.#onAlive();
  }

  usage(delta: AgentUsage): void {
    this.usages.push(delta);
  }

  toolStarted(id: string, name: string): void {
    this.tools.push({ id, name });
  }

  toolFinished(id: string, ok: boolean): void {
    const tool = this.tools.findLast((started) => started.id === id);
    if (tool !== undefined) tool.ok = ok;
  }

  transcript(row: TranscriptRow): void {
    this.rows.push(row);
  }

  warn(text: string): void {
    this.warnings.push(text);
  }

  async retry(failure: TransientFailure): Promise<void> {
    this.retries.push(failure);
    if (this.retries.length > this.maxRetries) throw new RetriesUsedUp(failure);
  }
}

/** Stands in for the error the runtime rejects with. */
export class RetriesUsedUp extends Error {
  readonly failure: TransientFailure;

  constructor(failure: TransientFailure) {
    super(failure.message);
    this.failure = failure;
  }
}
