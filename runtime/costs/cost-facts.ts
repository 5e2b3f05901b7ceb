import type { CoreEventData } from '../../protocol/core-event.ts';
import type { RunCosts } from '../../protocol/run-costs.ts';
import type { RunSummary } from '../../protocol/run-summary.ts';
import type { CostMeter } from './cost-meter.ts';

/** What the first event of a launch says about costs; nothing where agents cost nothing. */
export function costFacts(
  costs: CostMeter | undefined,
): Pick<CoreEventData<'run.started'>, 'pricesAsOf' | 'earlierCostUsd'> {
  if (costs === undefined) return {};
  const { pricesAsOf, earlierUsd } = costs;
  return { pricesAsOf, ...(earlierUsd === undefined ? {} : { earlierCostUsd: earlierUsd }) };
}

/** What the output of a launch says about them. */
export function spentCosts(costs: CostMeter | undefined, { phases }: RunSummary): { readonly costs?: RunCosts } {
  if (costs === undefined) return {};
  const spent = phases.flatMap(({ title, costUsd }) => (costUsd === undefined ? [] : [{ title, cost_usd: costUsd }]));
  return { costs: costs.report(spent) };
}

/** The same for the last event: what each agent cost is in the event of its end. */
export function spentByPhase({ costs }: { readonly costs?: RunCosts }): { readonly costs?: RunCosts } {
  if (costs === undefined) return {};
  const { agents: _agents, ...rest } = costs;
  return { costs: rest };
}
