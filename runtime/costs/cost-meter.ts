import type { RunCosts } from '../../protocol/run-costs.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentUsage } from '../ports.ts';
import { costOf, type ModelPrice, type PriceTable, priceOf } from './price-table.ts';

/** What one agent cost so far. */
export interface AgentSpend {
  /** As its backend told it. */
  settledUsd: number;
  /** By the price of its model: usage that the backend has not yet told the cost of. */
  pricedUsd: number;
  /** A model whose price would be needed and is not known. */
  unpricedModel: string | undefined;
}

/** One agent in the list of what was spent. */
interface AgentCost {
  readonly label: string;
  readonly cost_usd: number | null;
}

/** Agents that the list of what was spent names; a run may have thousands. */
const DEAREST = 100;
/** Stands for the model of a backend that does not name it. */
const UNNAMED = '(not named by the backend)';

/**
 * The meter of one launch: what its agents cost, each and all, by what backends tell and by the prices of models.
 *
 * Contract: a cost that is not known is null, never 0. Nothing here takes longer with the number of agents.
 */
export class CostMeter {
  /** Day of the prices. */
  readonly pricesAsOf: string;
  /** What earlier launches of the run spent; undefined for the first one, null when it is not known. */
  readonly earlierUsd: number | null | undefined;
  /** Told once of each model without a price. */
  onWarning: (text: string) => void = () => {};
  readonly #table: PriceTable;
  readonly #defaultModel: string;
  readonly #prices = new Map<string, ModelPrice | undefined>();
  readonly #unknown = new Set<string>();
  #spentUsd = 0;
  #agents: AgentCost[] = [];

  constructor(table: PriceTable, defaultModel: string | undefined, earlierUsd?: number | null) {
    this.#table = table;
    this.#defaultModel = defaultModel ?? UNNAMED;
    this.pricesAsOf = table.asOf;
    this.earlierUsd = earlierUsd;
  }

  open(): AgentSpend {
    return { settledUsd: 0, pricedUsd: 0, unpricedModel: undefined };
  }

  /** @param model the one that used it, as far as it is known */
  used(spend: AgentSpend, usage: AgentUsage, model: string | undefined): void {
    const { costUsd } = usage;
    if (costUsd !== undefined && Number.isFinite(costUsd) && costUsd >= 0) {
      this.#spentUsd += costUsd - spend.pricedUsd;
      spend.settledUsd += costUsd;
      spend.pricedUsd = 0;
      spend.unpricedModel = undefined;
      return;
    }
    if (usage.inputTokens === 0 && usage.outputTokens === 0) return;
    const id = model ?? this.#defaultModel;
    const price = this.#priceOf(id);
    if (price === undefined) {
      spend.unpricedModel = id;
      return;
    }
    const cost = costOf(price, usage);
    spend.pricedUsd += cost;
    this.#spentUsd += cost;
  }

  /** Takes note that an agent has ended. */
  ended(spend: AgentSpend, label: string): void {
    this.#agents.push({ label, cost_usd: agentCost(spend) });
    if (this.#agents.length > 2 * DEAREST) this.#agents = dearest(this.#agents);
    const { unpricedModel } = spend;
    if (unpricedModel === undefined || this.#unknown.has(unpricedModel)) return;
    this.#unknown.add(unpricedModel);
    this.onWarning(
      `No price is known for the model ${unpricedModel}, so what its agents cost is not known. Give it with --prices FILE.`,
    );
  }

  /** Why no further agent may start under a budget; undefined when one may. A spend that is not known keeps no budget. */
  refusal(budgetUsd: number): WorkflowError | undefined {
    const [model] = this.#unknown;
    if (model !== undefined) {
      return new WorkflowError(
        'LIMIT_BUDGET',
        `The price of the model ${model} is not known, so nobody can tell when the budget of ${dollars(budgetUsd)} is spent. Give it with --prices FILE and resume; finished agents cost nothing again.`,
        { data: { budgetUsd, model } },
      );
    }
    if (this.#spentUsd < budgetUsd) return undefined;
    const spentUsd = rounded(this.#spentUsd);
    return new WorkflowError(
      'LIMIT_BUDGET',
      `The run has spent ${dollars(spentUsd)} of its budget of ${dollars(budgetUsd)}. A resume counts from 0, and finished agents cost nothing again: resume with --budget-usd and what the rest may cost.`,
      { data: { spentUsd, budgetUsd } },
    );
  }

  /** The part of an output that tells what was spent on what. */
  report(phases: RunCosts['phases']): RunCosts {
    const agents = dearest(this.#agents);
    return {
      prices_as_of: this.pricesAsOf,
      phases,
      agents,
      ...(this.#unknown.size === 0 ? {} : { unpriced_models: [...this.#unknown] }),
    };
  }

  #priceOf(model: string): ModelPrice | undefined {
    if (!this.#prices.has(model)) this.#prices.set(model, priceOf(this.#table, model));
    return this.#prices.get(model);
  }
}

/** US dollars to a millionth; null when some of it is not known. */
export function agentCost({ settledUsd, pricedUsd, unpricedModel }: AgentSpend): number | null {
  return unpricedModel === undefined ? rounded(settledUsd + pricedUsd) : null;
}

/** What is known of it, when not all is. */
export function rounded(usd: number): number {
  return Math.round(usd * 1_000_000) / 1_000_000;
}

/** Those whose cost is not known come first: they may be the dearest. */
function dearest(agents: readonly AgentCost[]): AgentCost[] {
  const worth = ({ cost_usd }: AgentCost): number => cost_usd ?? Number.POSITIVE_INFINITY;
  return agents
    .toSorted((one, other) => (worth(one) === worth(other) ? 0 : worth(other) - worth(one)))
    .slice(0, DEAREST);
}

function dollars(usd: number): string {
  return `$${usd}`;
}
