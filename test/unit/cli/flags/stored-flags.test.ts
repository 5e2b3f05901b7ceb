import { describe, expect, it } from 'vitest';
import { readStoredFlags } from '../../../../cli/flags/stored-flags.ts';
import { mergeToolFlags } from '../../../../cli/flags/tool-flags.ts';

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

describe('what agents may do', () => {
  it('is kept for a resume, flag by flag, and what was typed goes first (A-29)', () => {
    const stored = readStoredFlags({
      permissionMode: 'plan',
      allowTools: ['Bash(npm test:*)', 'Bash('],
      denyTools: 'Read',
      bashSandbox: 'required',
      allowDomains: ['a.example', 'x/y'],
    });
    expect(stored).toEqual({
      permissionMode: 'plan',
      allowTools: ['Bash(npm test:*)'],
      bashSandbox: 'required',
      allowDomains: ['a.example'],
    });
    expect(mergeToolFlags({ permissionMode: 'default', denyTools: ['Edit'] }, stored)).toEqual({
      ...stored,
      permissionMode: 'default',
      denyTools: ['Edit'],
    });
  });
});
