import { describe, expect, it } from 'vitest';
import { chooseBackend } from '../../../cli/choose-backend.ts';

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
    expect(chooseBackend(flags, env, stored).name).toBe(name);
  });

  it('the first run without a key says that it is simulated and how to use a model (C-11)', () => {
    expect(chooseBackend({}, {}).notice).toMatch(/simulated.*ANTHROPIC_API_KEY/);
  });

  it.each([
    [{ backend: 'scripted' }, {}, undefined, 'USAGE_INVALID', /--responses FILE/],
    [{ backend: 'simulated', responses: 'r' }, {}, undefined, 'USAGE_INVALID', /not for simulated/],
    [{ backend: 'anthropic' }, {}, undefined, 'AGENT_AUTH', /ANTHROPIC_API_KEY/],
    [{}, {}, 'anthropic', 'AGENT_AUTH', /ANTHROPIC_API_KEY/],
  ] as const)('%j with %j after %s is refused with %s', (flags, env, stored, code, message) => {
    try {
      chooseBackend(flags, env, stored);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    }
  });
});
