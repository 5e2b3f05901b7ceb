import { describe, expect, it } from 'vitest';
import { agentCost, CostMeter } from '../../../../runtime/costs/cost-meter.ts';

const TABLE = {
  asOf: '2026-01-01',
  models: { known: { input: 1, output: 1, cacheWrite: 1, cacheRead: 1 } },
};
const million = { inputTokens: 1_000_000, outputTokens: 0 };

function meter(defaultModel: string | undefined = 'known') {
  const made = new CostMeter(TABLE, defaultModel);
  const warnings: string[] = [];
  made.onWarning = (text) => warnings.push(text);
  return { costs: made, warnings };
}

describe('the meter of a run', () => {
  it('prices usage by the model that was used, else by that of the backend (A-16)', () => {
    const { costs } = meter();
    const spend = costs.open();
    costs.used(spend, million, undefined);
    costs.used(spend, { inputTokens: 0, outputTokens: 500_000 }, 'known');
    expect(agentCost(spend)).toBe(1.5);
    expect(costs.refusal(2)).toBeUndefined();
    expect(costs.refusal(1.5)).toMatchObject({ code: 'LIMIT_BUDGET', data: { spentUsd: 1.5 } });
  });

  it('takes the cost that a backend tells for all usage before it (A-26)', () => {
    const { costs, warnings } = meter();
    const spend = costs.open();
    costs.used(spend, million, 'known');
    costs.used(spend, million, 'nobody-knows');
    expect(agentCost(spend)).toBeNull();
    costs.used(spend, { inputTokens: 0, outputTokens: 0, costUsd: 0.25 }, undefined);
    expect(agentCost(spend)).toBe(0.25);
    costs.used(spend, million, 'known');
    costs.ended(spend, 'one');
    expect(agentCost(spend)).toBe(1.25);
    expect(warnings).toEqual([]);
    expect(costs.refusal(1.25)).toMatchObject({ code: 'LIMIT_BUDGET' });
  });

  it('says once of a model that its price is not known, and keeps no budget then (A-16)', () => {
    const { costs, warnings } = meter('secret');
    for (const label of ['a', 'b']) {
      const spend = costs.open();
      costs.used(spend, million, undefined);
      costs.ended(spend, label);
      expect(agentCost(spend)).toBeNull();
    }
    expect(warnings).toEqual([expect.stringMatching(/model secret.*--prices FILE/)]);
    expect(costs.refusal(1_000_000)?.message).toMatch(/secret is not known.*--prices FILE/);
    expect(costs.report([])).toMatchObject({ unpriced_models: ['secret'], prices_as_of: '2026-01-01' });
  });

  it('names the dearest agents, however many there were (A-16)', () => {
    const { costs } = meter();
    for (let i = 0; i < 1000; i++) {
      const spend = costs.open();
      costs.used(spend, { inputTokens: ((i * 7) % 1000) * 1000, outputTokens: 0 }, undefined);
      costs.ended(spend, `agent ${i}`);
    }
    const agents = costs.report([]).agents ?? [];
    expect(agents).toHaveLength(100);
    expect(agents.map(({ cost_usd }) => cost_usd)).toEqual(Array.from({ length: 100 }, (_, at) => (999 - at) / 1000));
  });

  it('is not fooled by a backend that tells nonsense', () => {
    const { costs } = meter();
    const spend = costs.open();
    for (const costUsd of [Number.NaN, -1, Number.POSITIVE_INFINITY])
      costs.used(spend, { ...million, costUsd }, 'known');
    expect(agentCost(spend)).toBe(3);
  });
});
