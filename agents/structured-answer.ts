import { WorkflowError } from '../protocol/workflow-error.ts';
import type { OutputContract } from '../runtime/ports.ts';
import type { ToolCall, ToolResult } from './model-turns.ts';

/** Characters of a raw answer that an error carries; an answer may have millions. */
const MAX_RAW_IN_ERROR = 65_536;

export interface AnswersVerdict {
  /** JSON text of the value; undefined when no call was valid. */
  readonly valueJson?: string;
  /** What to tell the model about each invalid call. */
  readonly rejections: readonly ToolResult[];
}

/** Judges the StructuredOutput calls of one agent and counts them. */
export class StructuredAnswer {
  /** Calls used so far. */
  attempts = 0;
  readonly #contract: OutputContract;
  readonly #maxAttempts: number;
  /** Calls used when the allowance began. */
  #usedBefore = 0;
  #lastRaw = '';
  #lastErrors: readonly string[] = [];

  constructor(contract: OutputContract, maxAttempts: number) {
    this.#contract = contract;
    this.#maxAttempts = maxAttempts;
  }

  /**
   * Judges the calls of one message; the last valid one wins.
   *
   * @param cutCall the call in which the output limit ended the message
   */
  judge(calls: readonly ToolCall[], cutCall: ToolCall | undefined): AnswersVerdict {
    this.attempts += calls.length;
    const rejections: ToolResult[] = [];
    for (const call of calls.toReversed()) {
      const verdict = this.#contract.judge(call.rawInput, call === cutCall);
      if (verdict.ok) return { valueJson: verdict.valueJson, rejections: [] };
      if (rejections.length === 0) {
        this.#lastRaw = call.rawInput;
        this.#lastErrors = verdict.errors;
      }
      rejections.push({ toolUseId: call.id, content: verdict.message, isError: true });
    }
    return { rejections };
  }

  /** Grants as many calls again, since a good answer was held back. */
  beginAnew(): void {
    this.#usedBefore = this.attempts;
  }

  /** Whether as many calls were used as are allowed. */
  get usedUp(): boolean {
    return this.attempts - this.#usedBefore >= this.#maxAttempts;
  }

  /** @throws WorkflowError `AGENT_OUTPUT_INVALID` once as many calls were used as are allowed, none of them valid */
  throwIfUsedUp(): void {
    if (!this.usedUp) return;
    throw new WorkflowError(
      'AGENT_OUTPUT_INVALID',
      `No StructuredOutput call of the agent fitted the schema (${this.attempts} used). The last one: ${this.#lastErrors.join('; ')}. Loosen the schema, explain it in the prompt, or raise --max-structured-output-retries.`,
      {
        data: {
          lastText: this.#lastRaw.slice(0, MAX_RAW_IN_ERROR).toWellFormed(),
          validationErrors: this.#lastErrors,
          attempts: this.attempts,
        },
      },
    );
  }
}
