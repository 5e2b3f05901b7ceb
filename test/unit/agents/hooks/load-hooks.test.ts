import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Hooks } from '../../../../agents/hooks/hooks.ts';
import { type LoadHooksOptions, loadHooks } from '../../../../agents/hooks/load-hooks.ts';
import { agentRequest } from '../../../support/agent-request.ts';
import { FakeReporter } from '../../../support/fake-reporter.ts';

const ECHO = (word: string, event = 'SubagentStart') => ({
  hooks: { [event]: [{ hooks: [{ type: 'command', command: `echo '{"additionalContext":"${word}"}'` }] }] },
});

describe('hooks of settings', () => {
  let root: string;
  const problems: string[] = [];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'wf-load-hooks-'));
    problems.length = 0;
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function put(name: string, content: unknown): void {
    const file = join(root, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }

  function load(changes: Partial<LoadHooksOptions> = {}): Promise<Hooks | undefined> {
    const env = { PATH: process.env['PATH'] };
    const places = { cwd: join(root, 'project/sub'), homeDirectory: join(root, 'home') };
    return loadHooks({ ...places, env, onProblem: (text) => problems.push(text), ...changes });
  }

  async function said(hooks: Hooks | undefined): Promise<string | undefined> {
    const request = agentRequest('GO', { cwd: root });
    const agent = { request, signal: new AbortController().signal, report: new FakeReporter() };
    return (await hooks?.subagentStart(agent))?.additionalContext;
  }

  it('are there from each place, the user before the project, whose root counts in its folders (H-17)', async () => {
    put('project/.git/HEAD', '');
    put('home/.claude/settings.json', ECHO('home claude'));
    put('home/.codebuddy/settings.json', ECHO('home codebuddy'));
    put('home/.wf/settings.json', ECHO('home wf'));
    put('project/.claude/settings.json', ECHO('claude'));
    put('project/.claude/settings.local.json', ECHO('local'));
    put('project/.codebuddy/settings.json', ECHO('codebuddy'));
    put('project/sub/.wf/settings.json', ECHO('sub'));
    put('plugin/hooks/hooks.json', ECHO('plugin'));
    const hooks = await load({ settings: JSON.stringify(ECHO('given')), pluginDirectories: [join(root, 'plugin')] });
    expect((await said(hooks))?.split('\n\n')).toEqual([
      'home claude',
      'home codebuddy',
      'home wf',
      'claude',
      'local',
      'codebuddy',
      'sub',
      'given',
      'plugin',
    ]);
  });

  it('are none, and nothing is made, where no settings name one (H-18)', async () => {
    put('home/.claude/settings.json', { model: 'x' });
    put('project/sub/.wf/settings.json', { hooks: {} });
    await expect(load()).resolves.toBeUndefined();
  });

  it('stay off with disableAllHooks in any of the settings', async () => {
    put('home/.claude/settings.json', ECHO('home'));
    put('project/sub/.wf/settings.json', { disableAllHooks: true });
    await expect(load()).resolves.toBeUndefined();
  });

  it('stop at the working directory outside a repository', async () => {
    put('project/.claude/settings.json', ECHO('above'));
    await expect(load()).resolves.toBeUndefined();
  });

  it('of a plugin find its directory in their environment (H-17)', async () => {
    const command = `echo "{\\"additionalContext\\":\\"$CLAUDE_PLUGIN_ROOT\\"}"`;
    put('plugin/hooks/hooks.json', { hooks: { SubagentStart: [{ hooks: [{ type: 'command', command }] }] } });
    const hooks = await load({ pluginDirectories: [join(root, 'plugin')] });
    await expect(said(hooks)).resolves.toBe(join(root, 'plugin'));
  });

  it('say that a file of --settings is missing', async () => {
    await expect(load({ settings: join(root, 'none.json') })).resolves.toBeUndefined();
    expect(problems).toEqual([`The settings file ${join(root, 'none.json')} cannot be read, so it is left out.`]);
  });

  it('are read from a file that --settings names', async () => {
    put('mine.json', ECHO('mine'));
    await expect(said(await load({ settings: join(root, 'mine.json') }))).resolves.toBe('mine');
  });

  it('are left out, with a word about each, where settings are wrong (H-18)', async () => {
    put('home/.claude/settings.json', '{ "hooks": ');
    put('home/.wf/settings.json', { hooks: [] });
    put('project/sub/.claude/settings.json', {
      hooks: {
        SubagentStart: [
          {
            hooks: [
              { type: 'prompt', prompt: 'x' },
              { type: 'command' },
              { command: `echo '{"additionalContext":"ok"}'` },
            ],
          },
          { matcher: 'x' },
        ],
        Stop: 'x',
        PreTolUse: [],
        UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'false' }] }],
      },
    });
    const hooks = await load();
    expect(problems.map((text) => text.replaceAll(root, ''))).toEqual([
      '/home/.claude/settings.json is no valid JSON, so its hooks are left out.',
      '"hooks" in /home/.wf/settings.json is no object, so it is left out.',
      'A SubagentStart hook in /project/sub/.claude/settings.json is of type "prompt"; only "command" is run here.',
      'A SubagentStart hook in /project/sub/.claude/settings.json has no "command", so it is left out.',
      'A SubagentStart entry in /project/sub/.claude/settings.json has no list "hooks", so it is left out.',
      'The Stop hooks in /project/sub/.claude/settings.json are no list, so they are left out.',
      'No event of hooks is named "PreTolUse" in /project/sub/.claude/settings.json; did you mean PreToolUse?',
    ]);
    await expect(said(hooks)).resolves.toBe('ok');
  });
});
