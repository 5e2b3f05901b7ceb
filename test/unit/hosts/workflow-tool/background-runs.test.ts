import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRunStore } from '../../../../cache/run-store.ts';
import type { EndedRun } from '../../../../hosts/workflow-tool/background-run.ts';
import {
  type BackgroundRuns,
  type BackgroundRunsOptions,
  createBackgroundRuns,
} from '../../../../hosts/workflow-tool/background-runs.ts';
import { WorkflowError } from '../../../../protocol/workflow-error.ts';
import { answeringBackend, silence } from '../../../support/answering-backend.ts';

const script = (body: string, name = 'Greet the world'): string =>
  `export const meta = { name: ${JSON.stringify(name)}, description: 'Says hello.' }\n${body}\n`;

let root: string;
let hosts: BackgroundRuns[];

function host(options: Partial<BackgroundRunsOptions> = {}): { runs: BackgroundRuns; ends: EndedRun[] } {
  const ends: EndedRun[] = [];
  const runs = createBackgroundRuns({
    store: createRunStore({ root: join(root, 'state') }),
    backend: answeringBackend(),
    cwd: join(root, 'project'),
    homeDirectory: join(root, 'home'),
    onEnd: (ended) => void ends.push(ended),
    ...options,
  });
  hosts.push(runs);
  return { runs, ends };
}

function put(name: string, text: string): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** The arguments of the printed recovery call, read back as a model would. */
function recoveryOf({ notification }: EndedRun): { tool: string; input: Record<string, unknown> } | undefined {
  const found = notification.match(/<recovery>(\w+)\((.*)\)<\/recovery>/);
  return found === null ? undefined : { tool: found[1] ?? '', input: JSON.parse(found[2] ?? '') };
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wf-background-'));
  mkdirSync(join(root, 'project'));
  mkdirSync(join(root, 'home'));
  hosts = [];
});
afterEach(async () => {
  await Promise.all(hosts.map((runs) => runs.close()));
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

it('a launch returns while its agents are at work, and ends once with the result and a notification (H-2, E-16)', async () => {
  const gate = Promise.withResolvers<string>();
  const { runs, ends } = host({ backend: answeringBackend(() => gate.promise) });
  const run = await runs.launch({ script: script("return await agent('hi')"), toolUseId: 'toolu_1' });
  expect(run).toMatchObject({ status: 'running', workflowName: 'Greet the world', summary: 'Says hello.', launch: 1 });
  expect(run.transcriptDir).toBe(join(root, 'state/runs', run.runId, 'agents'));
  expect(ends).toEqual([]);
  gate.resolve('hello');
  const ended = await run.ended;
  await Promise.resolve();
  expect(ends).toEqual([ended]);
  expect(run.status).toBe('completed');
  expect(ended).toMatchObject({ status: 'completed', resultJson: '"hello"', toolUseId: 'toolu_1' });
  expect(JSON.parse(readFileSync(ended.outputFile, 'utf8'))).toMatchObject({ result: 'hello' });
  expect(ended.notification).toContain('<tool-use-id>toolu_1</tool-use-id>');
  expect(ended.notification).toContain('<result>hello</result>');
  expect(recoveryOf(ended)).toBeUndefined();
});

it('the script is kept in a private file that is named for the workflow and the run (H-3)', async () => {
  const { runs } = host();
  const text = script('return 1', '../Über große Näme/');
  const run = await runs.launch({ script: text });
  expect(run.scriptPath).toBe(join(root, `state/workflows/scripts/uber-gro-e-name-${run.runId}.js`));
  expect(readFileSync(run.scriptPath, 'utf8')).toBe(text);
  expect(statSync(run.scriptPath).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(run.scriptPath)).mode & 0o777).toBe(0o700);
});

it.each(['💥', '...', '-', ' '.repeat(9) + 'x'.repeat(300), 'a/b\\c\u0000d', 'CON'])(
  'the kept file has a safe name for a workflow named %j (H-3)',
  async (name) => {
    const { runs } = host();
    const run = await runs.launch({ script: script('return 1', name) });
    expect(basename(run.scriptPath)).toMatch(/^[a-z0-9][a-z0-9-]{0,39}-wf_[0-9a-f]{8}-[0-9a-f]{3}\.js$/);
  },
);

it('the kept script, edited, goes on with the run: what has a result costs nothing again (H-3, R-11)', async () => {
  const backend = answeringBackend(({ prompt }) => `${prompt}!`);
  const { runs } = host({ backend });
  const run = await runs.launch({
    script: script("const a = await agent('one')\nthrow new Error('no ' + a)"),
    args: [1],
  });
  const failed = await run.ended;
  expect(failed.status).toBe('failed');
  const recovery = recoveryOf(failed);
  expect(recovery).toEqual({
    tool: 'Workflow',
    input: { resumeFromRunId: run.runId, scriptPath: run.scriptPath },
  });
  writeFileSync(run.scriptPath, script("return [await agent('one'), await agent('two'), args]"));
  const again = await runs.launch(recovery?.input ?? {});
  expect(again).toMatchObject({ runId: run.runId, taskId: `${run.runId}.2`, launch: 2, scriptPath: run.scriptPath });
  const ended = await again.ended;
  expect(ended.resultJson).toBe('["one!","two!",[1]]');
  expect(backend.asked).toEqual(['one', 'two']);
  expect(ended.notification).toContain('The script was edited since the last launch');
});

it('a run goes on under its own script when none is named, and keeps an edit of the kept copy as it is (H-1, R-8)', async () => {
  let fails = true;
  const backend = answeringBackend(() => (fails ? new WorkflowError('AGENT_API', 'down') : 'up'));
  const { runs } = host({ backend });
  const run = await runs.launch({ script: script("return await agent('one')") });
  const first = await run.ended;
  expect(first).toMatchObject({ status: 'completed', resultJson: 'null' });
  expect(recoveryOf(first)).toBeDefined();
  writeFileSync(run.scriptPath, 'an edit under way');
  fails = false;
  const again = await runs.launch({ resumeFromRunId: run.runId });
  expect(await again.ended).toMatchObject({ resultJson: '"up"' });
  expect(again.scriptPath).toBe(run.scriptPath);
  expect(readFileSync(run.scriptPath, 'utf8')).toBe('an edit under way');
});

it('another host goes on with the run of one that is gone (R-12)', async () => {
  const run = await host().runs.launch({ script: script("return await agent('one')") });
  await run.ended;
  const backend = answeringBackend();
  const again = await host({ backend }).runs.launch({ resumeFromRunId: run.runId });
  expect(await again.ended).toMatchObject({ status: 'completed', resultJson: '"ok"' });
  expect(backend.asked).toEqual([]);
});

it('a path goes before a name, and a name before a text; a file of its author is edited in place (H-1)', async () => {
  const path = put('project/flow.js', script("return 'path'"));
  put('project/.wf/workflows/saved.js', script("return 'name'"));
  const { runs } = host();
  const byPath = await runs.launch({ scriptPath: 'flow.js', name: 'saved', script: script("return 'text'") });
  expect(await byPath.ended).toMatchObject({ resultJson: '"path"' });
  expect(byPath.scriptPath).toBe(path);
  const byName = await runs.launch({ name: 'saved', script: script("return 'text'") });
  expect(await byName.ended).toMatchObject({ resultJson: '"name"' });
  expect(dirname(byName.scriptPath)).toBe(join(root, 'state/workflows/scripts'));
});

it('a nested path goes from the author’s folder, also when the kept copy is launched (S-18, H-3)', async () => {
  put('project/.wf/workflows/lib/child.js', script("return 'child'"));
  put('project/.wf/workflows/outer.js', script("return await workflow({ scriptPath: 'lib/child.js' })"));
  const { runs } = host();
  const run = await runs.launch({ name: 'outer' });
  expect(await run.ended).toMatchObject({ resultJson: '"child"' });
  const again = await runs.launch({ scriptPath: run.scriptPath, resumeFromRunId: run.runId });
  expect(await again.ended).toMatchObject({ resultJson: '"child"' });
});

it('stop ends a run once as stopped, and names the call that goes on with it (H-2)', async () => {
  const { runs, ends } = host({ backend: answeringBackend(silence) });
  const run = await runs.launch({ script: script("return await agent('one')") });
  expect(runs.stop(run.taskId, 'the user asked for it')).toBe(run);
  runs.stop(run.runId);
  const ended = await run.ended;
  expect(ended).toMatchObject({ status: 'stopped', output: { status: 'killed' } });
  expect(ended.notification).toContain('<status>stopped</status>');
  expect(ended.notification).toContain('the user asked for it');
  expect(recoveryOf(ended)?.input['resumeFromRunId']).toBe(run.runId);
  runs.stop(run.taskId);
  expect(ends).toHaveLength(1);
});

it('stop of an unknown task names those at work (H-2)', async () => {
  const { runs } = host({ backend: answeringBackend(silence) });
  expect(() => runs.stop('wf_none')).toThrow(/no workflow task "wf_none" here; no workflow is at work/);
  const run = await runs.launch({ script: script("return await agent('one')") });
  expect(() => runs.stop('wf_none')).toThrow(new RegExp(`at work are: ${run.taskId}`));
});

it.each([
  [{}, 'USAGE_INVALID', /no workflow was named/],
  [{ script: 'return 1' }, 'SCRIPT_META_INVALID', /meta/],
  [{ scriptPath: 'none.js' }, 'FILE_MISSING', /none\.js does not exist/],
  [{ name: 'none' }, 'WORKFLOW_UNKNOWN', /no saved workflow named "none"/],
  [{ resumeFromRunId: 'wf_00000000-000' }, 'REPLAY_RUN_UNKNOWN', /wf_00000000-000/],
  [{ script: script('return 1'), args: () => 1 }, 'USAGE_INVALID', /args are a function/],
])('%j starts nothing and leaves nothing (H-2)', async (request, code, message) => {
  const { runs, ends } = host();
  await expect(runs.launch(request)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  expect(runs.list()).toEqual([]);
  expect(ends).toEqual([]);
  expect(readdirSync(root).sort()).toEqual(['home', 'project']);
});

it('an edit that does not validate leaves the stored run as it was (R-13)', async () => {
  const { runs } = host();
  const run = await runs.launch({ script: script('return 1') });
  await run.ended;
  const before = readFileSync(join(root, 'state/runs', run.runId, 'run.json'), 'utf8');
  writeFileSync(run.scriptPath, 'export const meta = {');
  const request = { resumeFromRunId: run.runId, scriptPath: run.scriptPath };
  await expect(runs.launch(request)).rejects.toMatchObject({ code: 'SCRIPT_SYNTAX' });
  expect(readFileSync(join(root, 'state/runs', run.runId, 'run.json'), 'utf8')).toBe(before);
});

it('a run at work is not resumed; the refusal names its task (R-14)', async () => {
  const { runs } = host({ backend: answeringBackend(silence) });
  const run = await runs.launch({ script: script("return await agent('one')") });
  await expect(runs.launch({ resumeFromRunId: run.runId })).rejects.toMatchObject({
    code: 'REPLAY_RUN_LIVE',
    message: expect.stringContaining(`still at work as task ${run.taskId}`),
  });
});

it('a budget given for a run stands on its resume until another is given (R-11)', async () => {
  const { runs } = host();
  const run = await runs.launch({ script: script('return budget.total'), budget: 700 });
  expect((await run.ended).resultJson).toBe('700');
  expect((await (await runs.launch({ resumeFromRunId: run.runId })).ended).resultJson).toBe('700');
  expect((await (await runs.launch({ resumeFromRunId: run.runId, budget: 9 })).ended).resultJson).toBe('9');
});

it('readers are added before the first event; one that throws harms neither the others nor the run (E-3)', async () => {
  const types: string[] = [];
  const { runs } = host({
    sinksFor: (task) => [{ handle: () => expect.fail(task.taskId) }, { handle: ({ type }) => void types.push(type) }],
  });
  const run = await runs.launch({ script: script("return await agent('one')") });
  expect(await run.ended).toMatchObject({ status: 'completed' });
  expect(types[0]).toBe('run.started');
  expect(types.at(-1)).toBe('run.finished');
});

it('task ids are UUIDs in dialect cbc, one a launch (E-8)', async () => {
  const { runs } = host({ dialect: 'cbc' });
  const run = await runs.launch({ script: script('return 1') });
  await run.ended;
  const again = await runs.launch({ resumeFromRunId: run.runId });
  expect(run.taskId).toMatch(/^[0-9a-f-]{36}$/);
  expect(again.taskId).not.toBe(run.taskId);
  expect(runs.get(run.runId)).toBe(again);
});

it('closing the host stops every run, waits for its end, and refuses new ones (H-8)', async () => {
  const { runs, ends } = host({ backend: answeringBackend(silence) });
  const launched = await Promise.all([1, 2].map((n) => runs.launch({ script: script(`return await agent('${n}')`) })));
  await runs.close();
  expect(launched.map((run) => run.status)).toEqual(['stopped', 'stopped']);
  expect(ends).toHaveLength(2);
  await expect(runs.launch({ script: script('return 1') })).rejects.toMatchObject({ code: 'USAGE_INVALID' });
});
