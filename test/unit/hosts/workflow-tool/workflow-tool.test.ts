import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadHooks } from '../../../../agents/hooks/load-hooks.ts';
import { loadResponsesFile } from '../../../../agents/scripted/load-responses-file.ts';
import { createScriptedBackend } from '../../../../agents/scripted/scripted-backend.ts';
import { createGitWorktrees } from '../../../../agents/worktrees/git-worktrees.ts';
import { TaskTracker } from '../../../../emitters/task-tracker.ts';
import type { EndedRun } from '../../../../hosts/workflow-tool/background-run.ts';
import {
  createWorkflowTool,
  type WorkflowTool,
  type WorkflowToolOptions,
} from '../../../../hosts/workflow-tool/create-workflow-tool.ts';
import { readWorkflowInput, WORKFLOW_INPUT_SCHEMA } from '../../../../hosts/workflow-tool/tool-input.ts';
import { streamJsonLineSchema } from '../../../../protocol/stream-json.ts';
import { answeringBackend, silence } from '../../../support/answering-backend.ts';
import { GIT_ENV, repository } from '../../agents/worktrees/test-repository.ts';

const script = (body: string): string => `export const meta = { name: 'greet', description: 'Says hello.' }\n${body}\n`;

let root: string;
let tools: WorkflowTool[];

function toolOf(options: Partial<WorkflowToolOptions> = {}): { tool: WorkflowTool; ends: EndedRun[]; lines: string[] } {
  const ends: EndedRun[] = [];
  const lines: string[] = [];
  const tool = createWorkflowTool({
    backend: answeringBackend(),
    stateDir: join(root, 'state'),
    cwd: join(root, 'project'),
    homeDirectory: join(root, 'home'),
    env: {},
    onStreamLine: (line) => void lines.push(line),
    onNotification: (ended) => void ends.push(ended),
    ...options,
  });
  if (tool === undefined) throw new Error('the kill switch is on');
  tools.push(tool);
  return { tool, ends, lines };
}

async function launched(tool: WorkflowTool, input: object, context = {}) {
  const answer = await tool.call(input, context);
  if (answer.isError) throw new Error(answer.text);
  return answer;
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wf-tool-'));
  mkdirSync(join(root, 'project/.wf/workflows'), { recursive: true });
  mkdirSync(join(root, 'home'));
  tools = [];
});
afterEach(async () => {
  await Promise.all(tools.map((tool) => tool.close()));
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

describe('a launch', () => {
  it('has the worktrees, the hooks and the layout that its host gives (H-2, H-17, H-19)', async () => {
    const repo = repository();
    const command = `cat > '${join(root, 'hook.json')}'`;
    const settings = JSON.stringify({ hooks: { SubagentStop: [{ hooks: [{ type: 'command', command }] }] } });
    const home = join(root, 'home');
    const hooks = await loadHooks({
      cwd: repo.root,
      homeDirectory: home,
      env: { PATH: process.env['PATH'] },
      settings,
    });
    const write = { tool: { name: 'Write', input: { file_path: 'made.txt', content: 'made' } } };
    const { tool, ends } = toolOf({
      backend: createScriptedBackend(
        loadResponsesFile(JSON.stringify({ default: [write, { text: 'done' }] }), 'responses.json'),
        { hooks, permissions: { mode: 'acceptEdits' } },
      ),
      worktrees: createGitWorktrees({ env: GIT_ENV }),
      layout: 'claude',
      sessionId: 'my-session',
      cwd: repo.root,
    });
    const { runId } = await launched(tool, { script: script("return await agent('x', { isolation: 'worktree' })") });
    await tool.run(runId)?.ended;
    expect(ends[0]?.resultJson).toBe('"done"');
    const [tree = ''] = repo.trees();
    expect(readFileSync(join(repo.root, '.wf/worktrees', tree, 'made.txt'), 'utf8')).toBe('made');
    const told = JSON.parse(readFileSync(join(root, 'hook.json'), 'utf8'));
    expect(told).toMatchObject({ hook_event_name: 'SubagentStop', workflow_run_id: runId });
    const filed = join(home, '.claude/projects', repo.root.replace(/[^A-Za-z0-9]/g, '-'), 'my-session');
    expect(told.agent_transcript_path).toContain(join(filed, 'subagents/workflows', runId));
    expect(existsSync(join(filed, 'workflows', `${runId}.json`))).toBe(true);
  });

  it('answers at once with the ids and paths, and a text that has them all (H-2)', async () => {
    const { tool } = toolOf({ backend: answeringBackend(silence) });
    const answer = await launched(tool, { script: script("return await agent('hi')") });
    expect(answer).toEqual({
      isError: false,
      status: 'async_launched',
      taskId: expect.any(String),
      taskType: 'local_workflow',
      workflowName: 'greet',
      runId: expect.stringMatching(/^wf_[0-9a-f]{8}-[0-9a-f]{3}$/),
      summary: 'Says hello.',
      transcriptDir: join(root, 'state/runs', answer.runId, 'agents'),
      scriptPath: join(root, `state/workflows/scripts/greet-${answer.runId}.js`),
      text: expect.any(String),
    });
    for (const part of [answer.taskId, answer.runId, answer.transcriptDir, answer.scriptPath]) {
      expect(answer.text).toContain(part);
    }
    expect(existsSync(answer.scriptPath)).toBe(true);
  });

  it.each(['claude', 'cbc'] as const)(
    'gives its lines in dialect %s, the critical ones in order, and then one notification (H-2, E-9)',
    async (dialect) => {
      const { tool, ends, lines } = toolOf({ dialect, sessionId: 's-1' });
      const { taskId } = await launched(tool, { script: script("return await agent('hi')") }, { toolUseId: 'toolu_7' });
      await tool.run(taskId)?.ended;
      const read = lines.map((line) => streamJsonLineSchema.parse(JSON.parse(line)));
      const kinds = read.map(({ subtype }) => subtype).filter((subtype) => subtype !== 'background_tasks_changed');
      expect(kinds[0]).toBe('task_started');
      expect(kinds.slice(-2)).toEqual(['task_updated', 'task_notification']);
      expect(read[0]).toMatchObject({ task_id: taskId, tool_use_id: 'toolu_7', session_id: 's-1' });
      expect('prompt' in (read[0] ?? {})).toBe(dialect === 'claude');
      const tracker = new TaskTracker();
      for (const line of lines) tracker.accept(JSON.parse(line), 0);
      expect(tracker.task(taskId)?.agents).toHaveLength(1);
      expect(ends.map(({ status, toolUseId }) => [status, toolUseId])).toEqual([['completed', 'toolu_7']]);
    },
  );

  it('two runs of a session are both among its background tasks (E-5)', async () => {
    const { tool, lines } = toolOf({ backend: answeringBackend(silence) });
    await launched(tool, { script: script("return await agent('1')") });
    await launched(tool, { script: script("return await agent('2')") });
    await tool.close();
    const counts = lines
      .map((line) => JSON.parse(line) as { subtype: string; tasks?: unknown[] })
      .filter(({ subtype }) => subtype === 'background_tasks_changed')
      .map(({ tasks }) => tasks?.length);
    expect(counts).toEqual([1, 2, 1, 0]);
  });

  it.each([
    ['an object', { a: [1, null] }, '{"a":[1,null]}'],
    ['text that is a JSON object', '{"a": 1}', '{"a":1}'],
    ['text that is a JSON array', ' [1, 2]', '[1,2]'],
    ['text that is not', '{a: 1', '"{a: 1"'],
    ['text that is a JSON number', '12', '"12"'],
    ['null', null, 'null'],
    ['false', false, 'false'],
  ])('args may be %s (H-1, S-16)', async (_what, args, seen) => {
    const { tool } = toolOf();
    const { taskId } = await launched(tool, { script: script('return args'), args });
    expect((await tool.run(taskId)?.ended)?.resultJson).toBe(seen);
  });

  it('title and description are taken and ignored, null is not given (H-1)', async () => {
    const { tool } = toolOf();
    const input = { script: script('return 1'), title: 'T', description: 5, name: null, scriptPath: null };
    expect(await tool.call(input)).toMatchObject({ isError: false, workflowName: 'greet' });
  });

  it('the recovery call that a notification prints works as printed (E-16, H-1)', async () => {
    let fails = true;
    const { tool } = toolOf({
      backend: answeringBackend(() => (fails ? silence({} as never, AbortSignal.abort()) : 'up')),
    });
    const { taskId } = await launched(tool, { script: script("return await agent('hi')") });
    const ended = await tool.stop(taskId);
    const call = ended.notification.match(/<recovery>Workflow\((.*)\)<\/recovery>/)?.[1] ?? '';
    fails = false;
    const again = await launched(tool, JSON.parse(call) as object);
    expect(await tool.run(again.taskId)?.ended).toMatchObject({ status: 'completed', resultJson: '"up"' });
  });
});

describe('a wrong call', () => {
  it.each([
    ['no object', 'run it', /input of Workflow must be an object, not a string/],
    ['an array', [], /not an array/],
    ['nothing', undefined, /not undefined/],
    ['no workflow', {}, /no workflow was named; give "script"/],
    ['args alone', { args: 1 }, /no workflow was named/],
    ['another key', { scrpt: 'x', script: 'y' }, /does not take "scrpt"; its keys are script, scriptPath, name, args/],
    ['a script that is no text', { script: 5 }, /"script" must be a string, not a number/],
    ['an empty path', { scriptPath: ' ' }, /"scriptPath" is empty/],
    ['an empty run', { script: 'x', resumeFromRunId: '' }, /"resumeFromRunId" is empty/],
    [
      'a path for a run',
      { resumeFromRunId: '../../etc' },
      /"resumeFromRunId" is "..\/..\/etc"; it must be the id of a run/,
    ],
    ['a huge script', { script: 'x'.repeat(524_289) }, /524,289 characters; at most 524,288/],
    ['a script without meta', { script: 'return 1' }, /meta/],
    ['a script with an error', { script: script('const = 1') }, /script\.js:2:7/],
    ['a missing file', { scriptPath: 'none.js' }, /none\.js does not exist/],
    ['a folder', { scriptPath: '.wf' }, /is a directory/],
    ['an unknown name', { name: 'grete' }, /no saved workflow named "grete".*greet/],
    ['an unknown run', { resumeFromRunId: 'wf_abcdef' }, /no run "wf_abcdef"/],
  ])('with %s is one clear answer, and nothing starts (H-1, H-2)', async (_what, input, message) => {
    writeFileSync(join(root, 'project/.wf/workflows/greet.js'), script('return 1'));
    const { tool, ends, lines } = toolOf();
    const answer = await tool.call(input);
    expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(message) });
    expect(answer.text).toMatch(/^Nothing was started\. .*\[[A-Z_]+\]$/s);
    expect([ends, lines]).toEqual([[], []]);
    expect(readdirSync(root).sort()).toEqual(['home', 'project']);
  });

  it('is refused where the published schema refuses it, and only there (H-1)', () => {
    const valid = new Ajv2020({ strict: false }).compile(WORKFLOW_INPUT_SCHEMA);
    const values = ['text', 5, {}, 'wf_abc123', 'wf_ABC', 'wf_a'];
    for (const key of [...Object.keys(WORKFLOW_INPUT_SCHEMA.properties), 'other']) {
      for (const value of values) {
        const input = { script: 'x', [key]: value };
        expect([input, isTaken(input)]).toEqual([input, valid(input)]);
      }
    }
  });
});

function isTaken(input: object): boolean {
  try {
    readWorkflowInput(input);
    return true;
  } catch {
    return false;
  }
}

describe('TaskStop', () => {
  it('stops a run once, and says so of one that has ended (H-2)', async () => {
    const { tool, ends } = toolOf({ backend: answeringBackend(silence) });
    const { taskId } = await launched(tool, { script: script("return await agent('hi')") });
    expect(await tool.taskStop.call({ task_id: taskId })).toMatchObject({
      isError: false,
      text: expect.stringMatching(/^Stopping the workflow "greet"/),
    });
    await tool.run(taskId)?.ended;
    expect(await tool.taskStop.call({ task_id: taskId })).toMatchObject({
      isError: false,
      text: expect.stringMatching(/had ended already: it is stopped/),
    });
    expect(ends.map(({ status }) => status)).toEqual(['stopped']);
  });

  it.each([
    [{}, /"task_id" is missing/],
    [{ task_id: 'none' }, /no workflow task "none" here; no workflow is at work/],
    [{ taskId: 'x' }, /does not take "taskId"; its keys are task_id/],
  ])('%j is one clear answer (H-2)', async (input, message) => {
    const { tool } = toolOf();
    expect(await tool.taskStop.call(input)).toMatchObject({ isError: true, text: expect.stringMatching(message) });
  });
});

describe('the kill switch', () => {
  const settings = (file: string, value: object): void => {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), JSON.stringify(value));
  };

  it('there is no tool to register where workflows are switched off (H-5)', () => {
    const options = {
      backend: answeringBackend(),
      stateDir: join(root, 'state'),
      cwd: join(root, 'project'),
      homeDirectory: join(root, 'home'),
    };
    expect(createWorkflowTool({ ...options, env: { CODEBUDDY_DISABLE_WORKFLOWS: '1' } })).toBeUndefined();
    expect(createWorkflowTool({ ...options, env: {} })).toBeDefined();
    settings('home/.claude/settings.json', { disableWorkflows: true });
    expect(createWorkflowTool({ ...options, env: {} })).toBeUndefined();
  });

  it('the process’s own environment counts unless another is given (H-5)', () => {
    process.env['WF_DISABLE_WORKFLOWS'] = '1';
    try {
      expect(createWorkflowTool({ backend: answeringBackend(), stateDir: join(root, 'state') })).toBeUndefined();
    } finally {
      delete process.env['WF_DISABLE_WORKFLOWS'];
    }
  });

  it('a switch that is turned later refuses the call and names itself (H-5)', async () => {
    const { tool } = toolOf();
    settings('project/.wf/settings.json', { enableWorkflows: false });
    expect(await tool.call({ script: script('return 1') })).toMatchObject({
      isError: true,
      code: 'WORKFLOWS_DISABLED',
      text: expect.stringContaining('"enableWorkflows": false'),
    });
  });
});

it('secrets are in no notification, line or file of the run (A-32)', async () => {
  const secret = 'hunter2-hunter2';
  const { tool, lines } = toolOf({ secrets: [secret], backend: answeringBackend(() => new Error(secret)) });
  const { taskId } = await launched(tool, { script: script(`log(args); throw new Error(args)`), args: secret });
  const ended = await tool.run(taskId)?.ended;
  expect(ended?.status).toBe('failed');
  expect(ended?.notification).not.toContain(secret);
  expect(lines.join('\n')).not.toContain(secret);
  expect(readFileSync(ended?.outputFile ?? '', 'utf8')).not.toContain(secret);
});
