import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { agentIdOf } from '../../runtime/calls/call-key.ts';
import { exhaustedError, LONGEST_RETRY_AFTER_MS, quotaError, retryDelayMs } from '../../runtime/calls/retry-policy.ts';
import { type AgentSpend, agentCost, type CostMeter } from '../../runtime/costs/cost-meter.ts';
import type { AgentBackend, AgentReporter } from '../../runtime/ports.ts';

export interface AskerOptions {
  readonly backend: AgentBackend;
  /** Absent where agents cost nothing. */
  readonly costs?: CostMeter | undefined;
  /** Working directory; absolute. */
  readonly cwd: string;
  readonly maxRetries: number;
  readonly signal: AbortSignal;
  /** Told of a wait before a retry. */
  onRetry(delayMs: number, reason: string): void;
}

/** Asks one question at a time of a backend, outside of any run, and counts what that takes. */
export class Asker {
  outputTokens = 0;
  readonly #options: AskerOptions;
  readonly #spend: AgentSpend | undefined;

  constructor(options: AskerOptions) {
    this.#options = options;
    this.#spend = options.costs?.open();
  }

  /** US dollars so far; null when it is not known, undefined where nothing costs. */
  get costUsd(): number | null | undefined {
    return this.#spend === undefined ? undefined : agentCost(this.#spend);
  }

  /**
   * Gives the text that an agent with the reading tools answers.
   *
   * @throws WorkflowError of kind `agent` or `cancelled`
   */
  async ask(prompt: string): Promise<string> {
    const { backend, cwd, signal } = this.#options;
    const key = `v1:${hash('sha256', prompt)}`;
    const request = {
      key,
      agentId: agentIdOf(key),
      prompt,
      label: 'write the script',
      phase: null,
      options: { tools: ['Read', 'Glob', 'Grep'] },
      output: undefined,
      maxStructuredOutputRetries: 1,
      cwd,
    };
    const outcome = await backend.run(request, signal, this.#reporter());
    return JSON.parse(outcome.valueJson) as string;
  }

  #reporter(): AgentReporter {
    const { costs, maxRetries, onRetry, signal } = this.#options;
    let retries = 0;
    return {
      alive() {},
      usage: (delta, model) => {
        this.outputTokens += delta.outputTokens;
        if (this.#spend !== undefined) costs?.used(this.#spend, delta, model);
      },
      toolStarted() {},
      toolFinished() {},
      transcript() {},
      async retry(failure) {
        if ((failure.retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) throw quotaError(failure);
        if (retries >= maxRetries) throw exhaustedError(failure, maxRetries);
        retries += 1;
        const delayMs = retryDelayMs(failure, retries, Math.random());
        onRetry(delayMs, failure.message);
        await wait(delayMs, undefined, { signal });
      },
    };
  }
}
