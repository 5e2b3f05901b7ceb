import type { Usage } from '../protocol/core-event.ts';
import { preview } from '../protocol/preview.ts';
import type { RunCosts } from '../protocol/run-costs.ts';

const PHASES_SHOWN = 12;

/** `$1.24`, `$0.0042`; a cost that is not known says so. */
export function formatUsd(usd: number | null): string {
  if (usd === null) return 'cost unknown';
  return usd === 0 || usd >= 0.1 ? `$${usd.toFixed(2)}` : `$${usd.toFixed(4)}`;
}

/** What a launch cost, in a few words; undefined where agents cost nothing. */
export function describeCost(usage: Usage): string | undefined {
  const { cost_usd: cost, cost_at_least_usd: least, total_cost_usd: total } = usage;
  if (cost === undefined) return undefined;
  const spent = cost === null && least !== undefined && least > 0 ? `at least ${formatUsd(least)}` : formatUsd(cost);
  if (total === undefined || total === cost) return spent;
  return `${spent}, ${total === null ? 'unknown' : formatUsd(total)} with the earlier launches`;
}

/** What each phase cost, in the order of the phases; undefined when that says nothing. */
export function describePhaseCosts(costs: RunCosts | undefined): string | undefined {
  if (costs === undefined || costs.phases.length < 2) return undefined;
  const shown = costs.phases
    .slice(0, PHASES_SHOWN)
    .map(({ title, cost_usd }) => `${preview(title, 40)} ${formatUsd(cost_usd)}`);
  const more = costs.phases.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
