import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type FakeApi, startFakeApi } from '../support/fake-messages-api.mjs';
import { type McpPlace, makeMcpPlace, script } from '../support/mcp-server.ts';
import { GIT_ENV } from '../unit/agents/worktrees/test-repository.ts';

let here: McpPlace;
let api: FakeApi | undefined;
afterEach(async () => {
  await here.remove();
  await api?.close();
});

it('what agents of wf run have, those of wf mcp have: worktrees, hooks, layouts, a budget in dollars (H-10 to H-12, H-17, H-19)', async () => {
  here = makeMcpPlace();
  const write = { tool: { name: 'Write', input: { file_path: 'made.txt', content: 'made' } } };
  const usage = { input_tokens: 1_000_000, output_tokens: 1_000 };
  api = await startFakeApi({
    rules: { rules: [{ match: 'MAKE', reply: [write, { text: 'done', usage }] }], default: [{ text: 'never' }] },
  });
  spawnSync('git', ['init', '-q', '-b', 'main'], { cwd: here.work, env: GIT_ENV });
  spawnSync('git', ['commit', '-q', '--allow-empty', '-m', 'first'], { cwd: here.work, env: GIT_ENV });
  mkdirSync(join(here.work, '.claude'));
  const log = join(here.root, 'hooks.log');
  const hooks = { SubagentStop: [{ hooks: [{ type: 'command', command: `cat > '${log}'` }] }] };
  writeFileSync(join(here.work, '.claude/settings.json'), JSON.stringify({ hooks }));
  const prices = join(here.root, 'prices.json');
  writeFileSync(prices, JSON.stringify({ asOf: '2026-01-01', models: { 'house-1': { input: 3, output: 10 } } }));
  const server = await here.connect({
    args: [
      '--permission-mode',
      'acceptEdits',
      '--layout',
      'claude',
      '--budget-usd',
      '2',
      '--prices',
      prices,
      '--model',
      'house-1',
    ],
    env: { ...GIT_ENV, ANTHROPIC_API_KEY: 'sk-ant-test', ANTHROPIC_BASE_URL: api.url, HOME: join(here.root, 'home') },
  });
  const source = script(`await agent('MAKE', { isolation: 'worktree' }); return agent('one too many')`);
  const { runId } = (await server.call('Workflow', { script: source })).structured as { runId: string };
  const ended = await server.call('workflow_result', { runId });
  expect(ended.structured).toMatchObject({ status: 'failed', error: { code: 'LIMIT_BUDGET' } });
  expect(ended.text).toContain('$2');
  const trees = spawnSync('git', ['worktree', 'list', '--porcelain'], {
    cwd: here.work,
    env: GIT_ENV,
    encoding: 'utf8',
  });
  const [, tree = ''] = [...trees.stdout.matchAll(/^worktree (.*)$/gm)].at(-1) ?? [];
  expect(readFileSync(join(tree, 'made.txt'), 'utf8')).toBe('made');
  expect(existsSync(join(here.work, 'made.txt'))).toBe(false);
  const told = JSON.parse(readFileSync(log, 'utf8'));
  expect(told).toMatchObject({
    hook_event_name: 'SubagentStop',
    workflow_run_id: runId,
    last_assistant_message: 'done',
  });
  expect(told.agent_transcript_path).toContain(join(here.root, 'home/.claude/projects'));
  expect(api.stats.conversations).toBe(1);
  // Whoever is connected gets a working copy as well, and is told where it is.
  const step = script(`return agent('do it', { isolation: 'worktree' })`);
  const { pending, runId: hosted } = await server.host('wf_start', { script: step });
  const [{ stepId = '', cwd = '', contract = '' } = {}] = pending;
  expect([cwd, contract]).toEqual([expect.stringContaining(hosted), expect.stringContaining('the folder cwd')]);
  writeFileSync(join(cwd, 'by-hand.txt'), 'made');
  const result = { status: 'success', output: 'done' };
  await server.host('wf_continue', { runId: hosted, stepId, result });
  expect(readFileSync(join(cwd, 'by-hand.txt'), 'utf8')).toBe('made');
  expect(existsSync(join(here.work, 'by-hand.txt'))).toBe(false);
});
