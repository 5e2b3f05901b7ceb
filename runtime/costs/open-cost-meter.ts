import type { AgentBackend, StoredRow } from '../ports.ts';
import { CostMeter } from './cost-meter.ts';
import { MODEL_PRICES } from './model-prices.ts';
import type { PriceTable } from './price-table.ts';

/** Opens the meter of a launch; undefined where the work of agents costs nothing that could be known. */
export function openCostMeter(
  backend: AgentBackend,
  prices: PriceTable | undefined,
  launch: number,
  history: readonly StoredRow[],
): CostMeter | undefined {
  if (backend.costs !== true) return undefined;
  const earlier = launch > 1 ? earlierCost(history) : undefined;
  return new CostMeter(prices ?? MODEL_PRICES, backend.model, earlier);
}

/**
 * What the agents of earlier launches cost that left a row; null when that of one is not known. What was cancelled left
 * none.
 */
function earlierCost(rows: readonly StoredRow[]): number | null {
  let sum = 0;
  for (const { row } of rows) {
    const cost = row.type === 'result' ? row.usage.cost_usd : row.type === 'failed' ? row.cost_usd : undefined;
    if (cost === null) return null;
    sum += cost ?? 0;
  }
  return sum;
}
