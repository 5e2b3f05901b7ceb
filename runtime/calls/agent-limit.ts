import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { CostMeter } from '../costs/cost-meter.ts';
import type { RunLimits } from '../run-options.ts';

type AgentLimits = Pick<RunLimits, 'maxAgents' | 'budget' | 'budgetUsd'>;

/** The limit that refuses a run one more agent; undefined when none does. */
export function agentLimit(
  limits: AgentLimits,
  started: number,
  spent: number,
  costs?: CostMeter,
): WorkflowError | undefined {
  const { maxAgents } = limits;
  if (started >= maxAgents) {
    return new WorkflowError(
      'LIMIT_AGENT_COUNT',
      `The run has started ${maxAgents} agents, which is its limit. Raise it with --max-agents and resume; finished agents cost nothing again.`,
      { data: { limit: maxAgents } },
    );
  }
  return budgetLimit(limits, spent, costs);
}

/** The budget that is spent, so that no agent may begin any more; undefined while none is. */
export function budgetLimit(
  { budget, budgetUsd }: AgentLimits,
  spent: number,
  costs?: CostMeter,
): WorkflowError | undefined {
  if (budget !== null && spent >= budget) {
    return new WorkflowError(
      'LIMIT_BUDGET',
      `The run has spent ${spent} output tokens of its budget of ${budget}. A resume counts from 0, and finished agents cost nothing again: resume with --budget and what the rest may cost.`,
      { data: { spent, budget } },
    );
  }
  return budgetUsd === null ? undefined : costs?.refusal(budgetUsd);
}
