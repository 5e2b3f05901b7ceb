import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCbcLayout } from '../../../cache/layouts/cbc-layout.ts';
import { createClaudeLayout } from '../../../cache/layouts/claude-layout.ts';
import type { TranscriptLayout } from '../../../cache/layouts/transcript-layout.ts';
import { createRunStore } from '../../../cache/run-store.ts';
import type { RunDirectory, TranscriptRow } from '../../../runtime/ports.ts';
import { createRedactor } from '../../../runtime/redact.ts';
import { sampleRecord } from './sample-record.ts';

const AGENT = 'a0123456789abcdef';
const ROWS: readonly TranscriptRow[] = [
  { type: 'note', text: 'started' },
  { type: 'user', text: 'look around' },
  {
    type: 'assistant',
    blocks: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 't1', name: 'Glob', rawInput: '{"pattern":"*"}' },
      { type: 'tool_use', id: 't2', name: 'Read', rawInput: '{"cut' },
    ],
    stopReason: 'tool_use',
    usage: { inputTokens: 10, outputTokens: 4 },
  },
  { type: 'tool_result', toolUseId: 't1', content: 'a.txt', isError: false },
  { type: 'tool_result', toolUseId: 't2', content: 'no JSON', isError: true },
  { type: 'error', code: 'AGENT_API', message: 'busy' },
  { type: 'assistant', value: { n: 1 } },
];

/** Runs one agent into a state directory and a layout, and ends the run. */
async function fill(make: (projects: string) => TranscriptLayout, secrets: readonly string[] = []) {
  const root = mkdtempSync(join(tmpdir(), 'wf-layout-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const projects = join(root, 'other/projects');
  const store = createRunStore({
    root: join(root, 'state'),
    layout: make(projects),
    redactor: createRedactor(secrets),
  });
  const record = { ...sampleRecord(), cwd: '/home/me/my_app', name: 'My flow!', status: 'completed' as const };
  const run = await store.create({ record, scriptText: 'return 1', argsJson: '{"a":1}' });
  run.agentFiles.writeMeta({
    key: `v1:${'0'.repeat(64)}`,
    agentId: AGENT,
    type: 'Explore',
    label: 'look',
    phase: 'One',
    model: 'sonnet',
    attempt: 1,
    worktree: null,
    startedAt: 5,
  });
  for (const row of ROWS) run.agentFiles.appendTranscript(AGENT, row);
  await run.agentFiles.saved(AGENT);
  return { root, projects, run };
}

const linesOf = (path: string): Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

async function end(run: RunDirectory): Promise<void> {
  const usage = { input_tokens: 10, output_tokens: 4, total_tokens: 14, tool_uses: 2, duration_ms: 9 };
  const census = {
    agent_count: 1,
    agents_done: 1,
    agents_error: 0,
    agents_skipped: 0,
    agents_cached: 0,
    agents_cancelled: 0,
    agents_empty_result: 0,
  };
  const logs = [{ level: 'info', text: 'sec"ret-0123456789-abcdef' }];
  const output = { status: 'completed' as const, runId: run.runId, usage, census, failures: [], logs, limits_hit: [] };
  await run.saveOutput(output, '{"b":2}');
  await run.close();
}

describe('the layout claude', () => {
  it('files an agent as rows of user and assistant messages, each after the one before it (H-19)', async () => {
    const { run, projects } = await fill((projectsDirectory) =>
      createClaudeLayout({ projectsDirectory, sessionId: 's-1' }),
    );
    const folder = join(projects, '-home-me-my-app/s-1/subagents/workflows', run.runId);
    const path = join(folder, `agent-${AGENT}.jsonl`);
    expect(run.agentFiles.transcriptPath(AGENT)).toBe(path);
    const rows = linesOf(path);
    expect(rows.map(({ type }) => type)).toEqual(['user', 'assistant', 'user', 'user', 'system', 'assistant']);
    const common = { isSidechain: true, sessionId: 's-1', cwd: '/home/me/my_app', agentId: AGENT };
    for (const [at, row] of rows.entries()) {
      expect(row).toMatchObject({ ...common, parentUuid: at === 0 ? null : rows[at - 1]?.['uuid'] });
      expect(row['timestamp']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    }
    expect(rows[0]?.['message']).toEqual({ role: 'user', content: 'look around' });
    expect(rows[1]?.['message']).toMatchObject({
      role: 'assistant',
      model: 'sonnet',
      stop_reason: 'tool_use',
      usage: { input_tokens: 10, output_tokens: 4 },
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 't1', name: 'Glob', input: { pattern: '*' } },
        { type: 'tool_use', id: 't2', name: 'Read', input: { raw: '{"cut' } },
      ],
    });
    expect(rows[3]?.['message']).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't2', content: 'no JSON', is_error: true }],
    });
    expect(JSON.parse(readFileSync(join(folder, `agent-${AGENT}.meta.json`), 'utf8'))).toMatchObject({
      agentType: 'Explore',
      description: 'look',
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await run.close();
  });

  it('files script and outcome of the run, without secrets, and leaves our own files as they are (H-19, A-32)', async () => {
    const { run, projects, root } = await fill(
      (projectsDirectory) => createClaudeLayout({ projectsDirectory }),
      ['sec"ret-0123456789-abcdef'],
    );
    await end(run);
    const [session = ''] = readdirSync(join(projects, '-home-me-my-app'));
    expect(session).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    const workflows = join(projects, '-home-me-my-app', session, 'workflows');
    expect(readFileSync(join(workflows, `scripts/my-flow-${run.runId}.js`), 'utf8')).toBe('return 1');
    const text = readFileSync(join(workflows, `${run.runId}.json`), 'utf8');
    expect(text).not.toContain('ret-0123456789');
    expect(JSON.parse(text)).toMatchObject({
      runId: run.runId,
      workflowName: 'My flow!',
      status: 'completed',
      script: 'return 1',
      args: { a: 1 },
      result: { b: 2 },
      workflowProgress: [{ type: 'workflow_agent', agentId: AGENT, label: 'look', phaseTitle: 'One' }],
    });
    const own = join(root, 'state/runs', run.runId);
    expect(linesOf(join(own, `agents/${AGENT}.jsonl`))).toEqual(ROWS);
    expect(readdirSync(own)).toContain('output.json');
  });
});

describe('the layout cbc', () => {
  it('files an agent as messages, calls and their results (H-19)', async () => {
    const { run, projects } = await fill((projectsDirectory) =>
      createCbcLayout({ projectsDirectory, sessionId: 's-1' }),
    );
    await end(run);
    const rows = linesOf(join(projects, `-home-me-my-app/s-1/subagents/agent-${AGENT}.jsonl`));
    expect(rows.map(({ type, role, name, callId }) => [type, role ?? name, callId])).toEqual([
      ['message', 'user', undefined],
      ['message', 'assistant', undefined],
      ['function_call', 'Glob', 't1'],
      ['function_call', 'Read', 't2'],
      ['function_call_result', 'Glob', 't1'],
      ['function_call_result', 'Read', 't2'],
      ['message', 'assistant', undefined],
    ]);
    expect(rows[0]).toMatchObject({ content: [{ type: 'input_text', text: 'look around' }], sessionId: 's-1' });
    expect(rows[2]).toMatchObject({ arguments: '{"pattern":"*"}', parentId: rows[1]?.['id'] });
    expect(rows[5]).toMatchObject({ status: 'failed', output: { type: 'text', text: 'no JSON' } });
    expect(rows[6]).toMatchObject({ content: [{ type: 'output_text', text: '{"n":1}' }] });
  });
});
