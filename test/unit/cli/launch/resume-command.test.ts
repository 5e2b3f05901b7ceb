import { describe, expect, it } from 'vitest';
import { resumeCommand } from '../../../../cli/launch/resume-command.ts';
import { WorkflowError } from '../../../../protocol/workflow-error.ts';
import { agentLimit } from '../../../../runtime/calls/agent-limit.ts';

const place = { runId: 'wf_00000001-abc', stateRoot: '/state', defaultStateRoot: '/state' };
const none = { maxAgents: 1000, budget: null, budgetUsd: null };
const after = (...limitsHit: (WorkflowError | undefined)[]) =>
  resumeCommand({ ...place, limitsHit: limitsHit.filter((one) => one !== undefined) });

describe('the printed resume command', () => {
  it('doubles a limit that would end the resume at the same place (A-12, A-16, C-6)', () => {
    expect(after()).toBe('wf resume wf_00000001-abc');
    expect(after(agentLimit({ ...none, maxAgents: 2 }, 2, 0))).toBe('wf resume wf_00000001-abc --max-agents 4');
    const spent = agentLimit({ ...none, budget: 500 }, 1, 512);
    expect(spent?.message).toMatch(/spent 512 output tokens of its budget of 500\. A resume counts from 0/);
    expect(after(spent)).toBe('wf resume wf_00000001-abc --budget 1000');
    const dollars = new WorkflowError('LIMIT_BUDGET', 'spent', { data: { spentUsd: 1.3, budgetUsd: 1.25 } });
    expect(after(dollars)).toBe('wf resume wf_00000001-abc --budget-usd 2.5');
  });

  it('leaves alone what more would not help (C-6)', () => {
    const unpriced = new WorkflowError('LIMIT_BUDGET', 'no price', { data: { budgetUsd: 1, model: 'x-1' } });
    expect(after(unpriced, new WorkflowError('LIMIT_MEMORY', 'too much'))).toBe('wf resume wf_00000001-abc');
  });
});
