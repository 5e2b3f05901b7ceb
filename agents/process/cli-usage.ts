import type { AgentUsage } from '../../runtime/ports.ts';
import type { CliResultLine } from './cli-line.ts';

const NOTHING: AgentUsage = { inputTokens: 0, outputTokens: 0 };

/**
 * Counts what one agent used, from two sources that overlap: each message tells its own tokens, often before it is
 * complete, and the end of a turn tells the sum and the cost. What is missing at the end of a turn is added then.
 *
 * Contract: each method gives what is new, for the report; undefined when nothing is.
 */
export class CliUsage {
  #total = NOTHING;
  #messages = new Map<string, AgentUsage>();
  /** Of the process under way: what its messages told since its last result, and in all. */
  #ofTurn = NOTHING;
  #ofProcess = NOTHING;
  #costOfProcess = 0;

  get total(): AgentUsage {
    return this.#total;
  }

  /** A new process counts from nothing; what the one before it used stays counted. */
  processStarted(): void {
    this.#messages = new Map();
    this.#ofTurn = NOTHING;
    this.#ofProcess = NOTHING;
    this.#costOfProcess = 0;
  }

  message(id: string | undefined, usage: AgentUsage): AgentUsage | undefined {
    const before = id === undefined ? NOTHING : (this.#messages.get(id) ?? NOTHING);
    if (id !== undefined) this.#messages.set(id, usage);
    return this.#add(missing(usage, before));
  }

  result({ usage, totalUsage, totalCostUsd }: CliResultLine): AgentUsage | undefined {
    const more =
      totalUsage === undefined ? missing(usage ?? NOTHING, this.#ofTurn) : missing(totalUsage, this.#ofProcess);
    const added = this.#add(more);
    this.#ofTurn = NOTHING;
    if (totalCostUsd === undefined) return added;
    // The sum of a process only grows; one that shrinks is that of a turn.
    const costUsd = totalCostUsd >= this.#costOfProcess ? totalCostUsd - this.#costOfProcess : totalCostUsd;
    this.#costOfProcess = Math.max(this.#costOfProcess, totalCostUsd);
    return { ...(added ?? NOTHING), costUsd };
  }

  #add(more: AgentUsage): AgentUsage | undefined {
    if (more.inputTokens === 0 && more.outputTokens === 0) return undefined;
    this.#total = plus(this.#total, more);
    this.#ofTurn = plus(this.#ofTurn, more);
    this.#ofProcess = plus(this.#ofProcess, more);
    return more;
  }
}

function missing(told: AgentUsage, counted: AgentUsage): AgentUsage {
  return combine(told, counted, (one, other) => Math.max(0, one - other));
}

function plus(one: AgentUsage, other: AgentUsage): AgentUsage {
  return combine(one, other, (left, right) => left + right);
}

function combine(one: AgentUsage, other: AgentUsage, of: (one: number, other: number) => number): AgentUsage {
  const read = of(one.cacheReadTokens ?? 0, other.cacheReadTokens ?? 0);
  const written = of(one.cacheWriteTokens ?? 0, other.cacheWriteTokens ?? 0);
  return {
    inputTokens: of(one.inputTokens, other.inputTokens),
    outputTokens: of(one.outputTokens, other.outputTokens),
    ...(read === 0 ? {} : { cacheReadTokens: read }),
    ...(written === 0 ? {} : { cacheWriteTokens: written }),
  };
}
