import { describe, expect, it } from 'vitest';
import { readStoredFlags } from '../../../cli/stored-flags.ts';

describe('readStoredFlags', () => {
  it('reads back what a launch stored (C-2)', () => {
    const stored = {
      backend: 'anthropic',
      model: 'opus',
      concurrency: 8,
      failOnAgentError: true,
      startedByPath: true,
      limits: { maxAgents: 12, timeoutMs: null, budget: 500 },
    };
    expect(readStoredFlags(JSON.parse(JSON.stringify(stored)))).toEqual(stored);
  });

  it('what another version or a hand wrote wrongly counts as not given (R-18)', () => {
    expect(
      readStoredFlags({
        backend: 'restate',
        model: 3,
        concurrency: 1000,
        failOnAgentError: 'yes',
        limits: { maxAgents: 'many', cpuLimitMs: -1, maxItems: null, unknown: 1 },
      }),
    ).toEqual({ limits: {} });
  });
});
