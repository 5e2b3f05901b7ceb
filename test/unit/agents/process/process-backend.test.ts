import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { openProcessBackend } from '../../../../agents/process/process-backend.ts';
import { isWorkflowError, WorkflowError } from '../../../../protocol/workflow-error.ts';
import type { AgentRequest } from '../../../../runtime/ports.ts';
import { agentRequest, numberContract } from '../../../support/agent-request.ts';
import { FakeReporter } from '../../../support/fake-reporter.ts';
import { FAKE_CLI, openFakeCli } from '../../../support/open-fake-cli.ts';
import { processLives } from '../../../support/process-lives.ts';
import { waitUntil } from '../../../support/wait-until.ts';

const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'wf-process-'));
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  rmSync(path.join(folder, 'state'), { force: true });
});

async function open(...parts: Parameters<typeof openFakeCli>) {
  const cli = await openFakeCli(...parts);
  opened.push(cli);
  return cli;
}

const state = { FAKE_CLI_STATE: path.join(folder, 'state') };

async function run(
  { backend }: Awaited<ReturnType<typeof open>>,
  changes: Partial<AgentRequest> = {},
  report = new FakeReporter(),
) {
  const { signal } = new AbortController();
  const settled = await backend.run(agentRequest('GO', changes), signal, report).then(
    (outcome) => ({ outcome, error: undefined }),
    (error: unknown) => ({ outcome: undefined, error }),
  );
  if (settled.error !== undefined && !isWorkflowError(settled.error)) throw settled.error;
  return { ...settled, error: settled.error as WorkflowError | undefined, report };
}

describe('an agent CLI as a backend', () => {
  it('is refused before anything is paid when its command is not there, with a way out (A-26, C-10)', async () => {
    const opening = openProcessBackend({ name: 'claude', command: ['claude'], env: { PATH: folder }, cwd: folder });
    await expect(opening).rejects.toMatchObject({ code: 'FILE_MISSING' });
    await expect(opening).rejects.toThrow(/"claude".*not found on the search path.*--agent-command/);
    const missing = `${folder}/missing-cli`;
    const named = openProcessBackend({ name: 'process', command: [missing], env: { PATH: folder }, cwd: folder });
    await expect(named).rejects.toThrow(`"${missing}" of the process backend is no program that can be started.`);
  });

  it.each([
    [1, 2],
    [8, 6],
    [64, 16],
  ])('with %i processors runs %i agents at a time (A-11, A-26)', async (processors, agents) => {
    const { backend } = await open('none', undefined, { processors });
    expect(backend.defaultConcurrency).toBe(agents);
  });

  it('gets the prompt over its input, and tools, model and instructions as arguments (A-1, A-21, A-26)', async () => {
    const cli = await open('env', undefined, {
      model: 'opus',
      permissions: { allowTools: ['Bash(npm test:*)'], denyTools: ['WebFetch'], mode: 'acceptEdits' },
    });
    const options = { tools: ['Read', 'Bash'], disallowedTools: ['Bash'], effort: 'high', maxTurns: 7 } as const;
    const { outcome } = await run(cli, { options, cwd: folder });
    const { argv, cwd } = JSON.parse(JSON.parse(outcome?.valueJson ?? '')) as { argv: string[]; cwd: string };
    expect(cwd).toBe(folder);
    expect(argv.join(' ')).not.toContain('GO');
    const after = (flag: string) => argv[argv.indexOf(flag) + 1];
    expect(after('--model')).toBe('opus');
    expect(after('--tools')).toBe('Read,Bash');
    expect(after('--allowedTools')).toBe('Bash(npm test:*)');
    expect(after('--disallowedTools')).toBe('WebFetch,Bash,Workflow,AskUserQuestion');
    expect(after('--permission-mode')).toBe('acceptEdits');
    expect([after('--effort'), after('--max-turns')]).toEqual(['high', '7']);
    expect(after('--append-system-prompt')).toContain('workflow script');
  });

  it('denies by name what an allow-list leaves out, where the CLI has no such list (A-26)', async () => {
    const { outcome } = await run(await open('env'), { options: { agentType: 'Explore' } });
    const argv = (JSON.parse(JSON.parse(outcome?.valueJson ?? '')) as { argv: string[] }).argv;
    expect(argv[argv.indexOf('--tools') + 1]).toBe('Read,Glob,Grep');
    const old = await open('old', { default: [{ tool: { name: 'Read', input: {} } }, { text: 'done' }] });
    const { report } = await run(old, { options: { tools: ['Glob'] } });
    expect(report.tools).toEqual([expect.objectContaining({ name: 'Read', ok: false })]);
  });

  it('gets our environment less our own settings, told how deep it is and not to retry itself (A-13, A-26)', async () => {
    const env = { LOGIN: 'kept', WF_HOME: '/secret', CLAUDECODE: '1', WF_AGENT_DEPTH: '2' };
    const { outcome } = await run(await open('env', undefined, { env }));
    const seen = (JSON.parse(JSON.parse(outcome?.valueJson ?? '')) as { env: Record<string, string> }).env;
    expect(seen).toMatchObject({ LOGIN: 'kept', WF_AGENT_DEPTH: '3', CLAUDE_CODE_MAX_RETRIES: '0' });
    expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(['WF_HOME']));
    expect(seen).not.toHaveProperty('CLAUDECODE');
  });

  it('without a flag for schemas gets them as an MCP tool, whose errors are ours (A-5, A-26)', async () => {
    const cli = await open('old', { default: [{ json: { n: 'x' } }, { json: { n: 2 } }] });
    const { outcome, report } = await run(cli, { output: numberContract });
    expect(outcome).toMatchObject({ valueJson: '{"n":2}', attempts: 2, toolUses: 0 });
    expect(report.rows).toContainEqual(
      expect.objectContaining({ type: 'tool_result', isError: true, content: '/n must be a number' }),
    );
    expect(cli.api.stats.calls[0]?.systemText).toContain('mcp__wf__StructuredOutput');
  });

  it('gets a schema that is too long for an argument as an MCP tool too (A-7, A-26)', async () => {
    const cli = await open('none', { default: [{ json: { n: 2 } }] });
    const output = {
      ...numberContract,
      wireSchema: { ...numberContract.wireSchema, description: 'x'.repeat(200_000) },
    };
    const { outcome } = await run(cli, { output });
    expect(outcome?.valueJson).toBe('{"n":2}');
  });

  it('is asked again when its own check let an answer through that ours refuses (A-4, A-7, A-26)', async () => {
    const strict = {
      ...numberContract,
      judge(raw: string) {
        const verdict = numberContract.judge(raw);
        const small = verdict.ok && (JSON.parse(raw) as { n: number }).n < 10;
        return small ? ({ ok: false, message: '/n must be >= 10', errors: ['/n must be >= 10'] } as const) : verdict;
      },
    };
    const cli = await open('none', { default: [{ json: { n: 2 } }, { json: { n: 12 } }] });
    const { outcome } = await run(cli, { output: strict });
    expect(outcome).toMatchObject({ valueJson: '{"n":12}', attempts: 2 });
    expect(cli.api.stats.calls[1]?.userText).toContain('/n must be >= 10');
  });

  it('may keep the call to itself and give the answer with its result (A-26)', async () => {
    const { outcome } = await run(await open('hidden', { default: [{ json: { n: 5 } }] }), { output: numberContract });
    expect(outcome).toMatchObject({ valueJson: '{"n":5}', attempts: 1 });
  });

  it('counts tokens that only the result tells, and takes the cost as it is given (A-26)', async () => {
    const cli = await open('cost', { default: [{ text: 'prose' }, { json: { n: 1 } }] });
    const { outcome, report } = await run(cli, { output: numberContract });
    expect(outcome?.usage).toMatchObject({ inputTokens: 200, outputTokens: 20 });
    expect(report.outputTokens).toBe(20);
    expect(report.usages.map(({ costUsd }) => costUsd).filter((cost) => cost !== undefined)).toEqual([0.25, 0.25]);
  });

  it('may print what is no JSON and what nobody knows yet (A-26)', async () => {
    const { outcome } = await run(await open('noise'));
    expect(outcome?.valueJson).toBe('"done"');
  });
});

describe('an agent CLI that fails', () => {
  it('with an exit code ends the agent, with its last words and no control sequences (A-3, A-26)', async () => {
    const { error, report } = await run(await open('crash'));
    expect(error).toMatchObject({ code: 'AGENT_API', data: { exitCode: 3 } });
    expect(error?.message).toMatch(/exit code 3 before it gave a result\. It said: out of cheese$/);
    expect(report.retries).toEqual([]);
  });

  it('by a signal that was not ours is started again, and told of the earlier attempt or not (A-13, A-15)', async () => {
    const { outcome, report } = await run(await open('killed', undefined, { env: state }));
    expect(outcome?.valueJson).toBe('"done"');
    expect(report.retries).toEqual([{ message: expect.stringContaining('SIGKILL') }]);
  });

  it('because it is not logged in ends the run, and says how to log in (A-20)', async () => {
    const { error } = await run(await open('login'));
    expect(error).toMatchObject({ code: 'AGENT_AUTH' });
    expect(error?.message).toMatch(/Please run \/login.*start it by hand/i);
  });

  it('because its account is used up ends the run, with the time of the reset (A-20)', async () => {
    const { error } = await run(await open('limit'));
    expect(error).toMatchObject({ code: 'AGENT_QUOTA', data: { resetsAt: '2100-01-01T00:00:00.000Z' } });
  });
});

describe('the processes of an agent CLI', () => {
  const pids = (): readonly number[] => JSON.parse(readFileSync(state.FAKE_CLI_STATE, 'utf8')) as number[];

  it('are gone two seconds after an abort, children included, even if they ignore the request (A-18, A-26)', async () => {
    const { backend } = await open('stubborn', undefined, { env: state });
    const controller = new AbortController();
    const running = backend.run(agentRequest('WAIT'), controller.signal, new FakeReporter());
    running.catch(() => {});
    await waitUntil(() => existsSync(state.FAKE_CLI_STATE));
    const since = performance.now();
    controller.abort(new WorkflowError('RUN_CANCELLED', 'enough'));
    await expect(running).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    await waitUntil(() => !pids().some(processLives));
    expect(performance.now() - since).toBeLessThan(2_000);
  });

  it('die with the process that started them, however it ends (A-18, A-26)', async () => {
    const program = fileURLToPath(new URL('../../../support/abandoned-agent.ts', import.meta.url));
    const owner = spawn(process.execPath, [program, FAKE_CLI, state.FAKE_CLI_STATE], { stdio: 'ignore' });
    await waitUntil(() => existsSync(state.FAKE_CLI_STATE));
    expect(pids().every(processLives)).toBe(true);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    await waitUntil(() => !pids().some(processLives));
  });
});
