import type { TurnOrigin, TurnUsage } from '../../protocol/stdio-output.ts';
import type { AgentUsage } from '../../runtime/ports.ts';

/** How a turn ended. */
export type TurnOutcome =
  | { readonly type: 'done'; readonly text: string; readonly stopReason: string | null }
  /** It could not be done; the text says why and what to do. */
  | { readonly type: 'failed'; readonly text: string }
  | { readonly type: 'interrupted' }
  | { readonly type: 'out-of-turns'; readonly maxTurns: number };

export interface PermissionDenial {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: Readonly<Record<string, unknown>>;
}

/** One turn under way: what it was given, and what it has used. */
export class Turn {
  readonly controller = new AbortController();
  readonly origin: TurnOrigin | undefined;
  /** Output tokens that the turn and the runs it starts may use; undefined for no bound. */
  readonly budget: number | undefined;
  readonly #startedAtMs: number;
  readonly #denials: PermissionDenial[] = [];
  #requests = 0;
  #apiMs = 0;
  #usage: Required<Omit<AgentUsage, 'costUsd'>> = {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
  /** Budgets of the runs that this turn has started. */
  #handedOut = 0;

  constructor(parts: {
    readonly startedAtMs: number;
    readonly origin?: TurnOrigin;
    readonly budget?: number | undefined;
  }) {
    this.origin = parts.origin;
    this.budget = parts.budget;
    this.#startedAtMs = parts.startedAtMs;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  countMessage(usage: AgentUsage, apiMs: number): void {
    this.#requests += 1;
    this.#apiMs += apiMs;
    const { cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
    this.#usage = {
      inputTokens: this.#usage.inputTokens + usage.inputTokens,
      outputTokens: this.#usage.outputTokens + usage.outputTokens,
      cacheReadTokens: this.#usage.cacheReadTokens + cacheReadTokens,
      cacheWriteTokens: this.#usage.cacheWriteTokens + cacheWriteTokens,
    };
  }

  countDenial(denial: PermissionDenial): void {
    this.#denials.push(denial);
  }

  /** Gives a run all that is left of the budget: undefined when there is none, 0 when it is used up. */
  takeBudget(): number | undefined {
    if (this.budget === undefined) return undefined;
    const left = Math.max(0, this.budget - this.#usage.outputTokens - this.#handedOut);
    this.#handedOut += left;
    return left;
  }

  /** Takes back what a run was given that did not start. */
  returnBudget(tokens: number): void {
    this.#handedOut -= tokens;
  }

  /** Fields that every `result` has. */
  resultFields(nowMs: number): Readonly<Record<string, unknown>> {
    return {
      duration_ms: Math.max(0, Math.round(nowMs - this.#startedAtMs)),
      duration_api_ms: Math.round(this.#apiMs),
      num_turns: Math.max(1, this.#requests),
      usage: lineUsage(this.#usage),
      permission_denials: this.#denials,
      ...(this.origin === undefined ? {} : { origin: this.origin }),
    };
  }
}

/** Usage as lines have it: as in the Messages API, cached tokens are not among the input tokens. */
export function lineUsage(usage: AgentUsage): TurnUsage {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    output_tokens: outputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
  };
}
