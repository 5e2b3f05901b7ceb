import { describe, expect, it } from 'vitest';
import { chooseBackend } from '../../../../cli/launch/choose-backend.ts';

const KEY = { ANTHROPIC_API_KEY: 'k' };

describe('chooseBackend', () => {
  it.each([
    [{}, {}, undefined, 'simulated'],
    [{}, KEY, undefined, 'anthropic'],
    [{}, { ANTHROPIC_AUTH_TOKEN: 't' }, undefined, 'anthropic'],
    [{ responses: 'r.json' }, KEY, undefined, 'scripted'],
    [{ backend: 'simulated' }, KEY, undefined, 'simulated'],
    [{}, KEY, 'simulated', 'simulated'],
    [{}, KEY, 'scripted', 'simulated'],
    [{ responses: 'r.json' }, {}, 'anthropic', 'scripted'],
    [{}, KEY, 'anthropic', 'anthropic'],
  ] as const)('%j with %j after %s is done by %s (C-11, A-24)', (flags, env, stored, name) => {
    expect(chooseBackend(flags, env, stored === undefined ? {} : { backend: stored }).name).toBe(name);
  });

  it('the first run without a key says that it is simulated and how to use a model (C-11)', () => {
    expect(chooseBackend({}, {}).notice).toMatch(/simulated.*ANTHROPIC_API_KEY/);
  });

  it.each([
    [{ backend: 'scripted' }, {}, undefined, 'USAGE_INVALID', /--responses FILE/],
    [{ backend: 'simulated', responses: 'r' }, {}, undefined, 'USAGE_INVALID', /not for simulated/],
    [{ backend: 'anthropic' }, {}, undefined, 'AGENT_AUTH', /ANTHROPIC_API_KEY/],
    [{}, {}, 'anthropic', 'AGENT_AUTH', /ANTHROPIC_API_KEY/],
    [{ backend: 'process' }, {}, undefined, 'USAGE_INVALID', /--agent-command.*WF_AGENT_COMMAND/],
    [{ backend: 'process' }, { WF_AGENT_COMMAND: "cli 'open" }, undefined, 'USAGE_INVALID', /open quote/],
    [{ backend: 'anthropic', agentCommand: ['cli'] }, KEY, undefined, 'USAGE_INVALID', /not for anthropic/],
    [{ backend: 'claude' }, { WF_AGENT_DEPTH: '1' }, undefined, 'LIMIT_DEPTH', /unset WF_AGENT_DEPTH/],
    [{}, { ...KEY, WF_AGENT_DEPTH: '1' }, undefined, 'LIMIT_DEPTH', /--backend simulated/],
  ] as const)('%j with %j after %s is refused with %s', (flags, env, stored, code, message) => {
    try {
      chooseBackend(flags, env, stored === undefined ? {} : { backend: stored });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    }
  });

  it.each([
    [{ backend: 'claude' }, {}, {}, 'claude', undefined],
    [{ agentCommand: ['cli', '-x'] }, KEY, {}, 'process', ['cli', '-x']],
    [{ backend: 'process' }, { WF_AGENT_COMMAND: 'cli -x' }, {}, 'process', ['cli', '-x']],
    [{}, KEY, { backend: 'process', agentCommand: ['old'] }, 'process', ['old']],
    [{ agentCommand: ['new'] }, {}, { backend: 'codebuddy', agentCommand: ['old'] }, 'codebuddy', ['new']],
    [{ backend: 'claude' }, {}, { backend: 'codebuddy', agentCommand: ['old'] }, 'claude', undefined],
    [{ backend: 'simulated' }, { WF_AGENT_DEPTH: '1' }, {}, 'simulated', undefined],
  ] as const)('%j with %j after %j starts %s %j (C-1, A-26)', (flags, env, stored, name, agentCommand) => {
    expect(chooseBackend(flags, env, stored)).toMatchObject({ name, ...(agentCommand && { agentCommand }) });
  });
});
