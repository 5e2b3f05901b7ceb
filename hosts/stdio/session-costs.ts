import { costOf, type PriceTable, priceOf } from '../../runtime/costs/price-table.ts';
import type { AgentUsage } from '../../runtime/ports.ts';
import type { EndedRun } from '../workflow-tool/background-run.ts';

/** What a session has used so far: its own requests, and the runs that have ended. */
export interface SessionCosts {
  /** Counts one answer of the model of the main conversation. */
  message(model: string, usage: AgentUsage): void;
  run(ended: EndedRun): void;
  /** Fields of a `result`. What is not known to cost anything counts as nothing, since readers expect a number. */
  fields(): Readonly<Record<string, unknown>>;
}

interface ModelSpend {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly costUSD: number;
}

const NOTHING: ModelSpend = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
  costUSD: 0,
};

export function createSessionCosts(prices: PriceTable): SessionCosts {
  const models = new Map<string, ModelSpend>();
  let runsUsd = 0;
  return {
    message(model, usage) {
      const { cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
      const before = models.get(model) ?? NOTHING;
      const price = priceOf(prices, model);
      models.set(model, {
        inputTokens: before.inputTokens + Math.max(0, usage.inputTokens - cacheReadTokens - cacheWriteTokens),
        outputTokens: before.outputTokens + usage.outputTokens,
        cacheReadInputTokens: before.cacheReadInputTokens + cacheReadTokens,
        cacheCreationInputTokens: before.cacheCreationInputTokens + cacheWriteTokens,
        costUSD: before.costUSD + (price === undefined ? 0 : costOf(price, usage)),
      });
    },
    run({ output }) {
      runsUsd += output.usage.cost_usd ?? 0;
    },
    fields() {
      const own = [...models.values()].reduce((sum, { costUSD }) => sum + costUSD, 0);
      return { total_cost_usd: own + runsUsd, modelUsage: Object.fromEntries(models) };
    },
  };
}
