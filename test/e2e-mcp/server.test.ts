import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { descendantsOf, isAlive, type McpPlace, makeMcpPlace, script, WF } from '../support/mcp-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const places: McpPlace[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(places.splice(0).map((place) => place.remove()));
});

function place(): McpPlace {
  const made = makeMcpPlace();
  places.push(made);
  return made;
}

const HOST_TOOLS = ['wf_start', 'wf_continue', 'wf_status', 'wf_cancel'];
const RUN_TOOLS = ['workflow_status', 'workflow_result', 'workflow_stop', 'workflow_list'];

describe('the tools for workflows in the background', () => {
  it('are listed with the schemas of what they take and answer, and none publishes (H-10)', async () => {
    const { client } = await place().connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['Workflow', ...RUN_TOOLS, ...HOST_TOOLS]);
    for (const { name, description, inputSchema, outputSchema } of tools) {
      expect(description?.length, name).toBeGreaterThan(30);
      expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false });
      expect(outputSchema, name).toMatchObject({
        type: 'object',
        required: expect.arrayContaining([expect.any(String)]),
      });
    }
    expect(client.getInstructions()).toContain('wf_start');
  });

  it('launch a run, tell how far it is, wait for its result and list it (H-1, H-2, H-10, H-11)', async () => {
    const here = place();
    const server = await here.connect({ args: ['--backend', 'simulated'] });
    const launched = await server.call('Workflow', {
      script: script(`phase('One'); return (await agent('hello')).length > 0 && args.n`),
      args: { n: 3 },
    });
    expect(launched.structured).toMatchObject({ status: 'async_launched', taskType: 'local_workflow' });
    const { runId } = launched.structured as { runId: string };
    const ended = await server.call('workflow_result', { runId });
    expect(ended.structured).toMatchObject({ runId, status: 'completed', result: 3, phase: 'One' });
    expect(ended.text).toContain('<task-notification>');
    expect((await server.call('workflow_status', { runId })).structured).toMatchObject({
      status: 'completed',
      agents: { total: 1, done: 1, failed: 0 },
    });
    expect((await server.call('workflow_list')).structured).toMatchObject({
      runs: [{ runId, status: 'completed', workflowName: 'mcp-test' }],
      more: 0,
    });
    await server.close();
    const later = await here.connect();
    expect((await later.call('workflow_result', { runId })).structured).toMatchObject({
      status: 'completed',
      result: 3,
    });
  });

  it('tell progress while a client waits, honour its cancelling, and stop a run (H-10)', async () => {
    const here = place();
    const responses = join(here.work, 'responses.json');
    const slow = { match: 'slow', reply: [{ silentMs: 600_000 }, { text: 'late' }] };
    writeFileSync(responses, JSON.stringify({ rules: [slow], default: [{ text: 'ok', delayMs: 300 }] }));
    const server = await here.connect({ args: ['--responses', responses] });
    const source = script(`phase('Read'); await agent('a'); phase('Write'); await agent('b'); return agent('slow')`);
    const { runId } = (await server.call('Workflow', { script: source })).structured as { runId: string };
    const told: { progress: number; message?: string | undefined }[] = [];
    const patience = new AbortController();
    const waiting = server.call(
      'workflow_result',
      { runId, waitSeconds: 60 },
      {
        signal: patience.signal,
        onprogress: (progress) => {
          told.push(progress);
          if (progress.message === 'Write: 2 of 3 agents done') patience.abort(new Error('enough'));
        },
      },
    );
    await expect(waiting).rejects.toThrow('enough');
    expect(told.map(({ message }) => message)).toContain('Read: 0 of 1 agents done');
    expect(told.map(({ progress }) => progress)).toEqual(
      told.map(({ progress }) => progress).toSorted((a, b) => a - b),
    );
    expect((await server.call('workflow_status', { runId })).structured).toMatchObject({ status: 'running' });
    const stopped = await server.call('workflow_stop', { runId, reason: 'seen enough' });
    expect(stopped.structured).toMatchObject({ status: 'stopped', error: { code: 'RUN_CANCELLED' } });
    const resumed = await server.call('Workflow', { resumeFromRunId: runId });
    expect(resumed.structured).toMatchObject({ runId });
    await server.call('workflow_stop', { runId });
  });

  it('refuse what they cannot do, each in a sentence that says what to do (H-1, H-10)', async () => {
    const here = place();
    const server = await here.connect();
    const refusal = async (name: string, args: Record<string, unknown>) => {
      const { isError, text } = await server.call(name, args);
      expect(isError).toBe(true);
      return text;
    };
    expect(await refusal('Workflow', {})).toMatch(/no workflow was named.*\[USAGE_INVALID\]/);
    expect(await refusal('Workflow', { script: script('return'), save: 'me' })).toMatch(/does not take "save"/);
    expect(await refusal('Workflow', { script: 'return (' })).toMatch(/\[SCRIPT_/);
    expect(await refusal('Workflow', { name: 'none-such' })).toMatch(/\[WORKFLOW_UNKNOWN\]/);
    expect(await refusal('workflow_result', { runId: 'wf_00000000-000' })).toMatch(/\[REPLAY_RUN_UNKNOWN\]/);
    expect(await refusal('workflow_result', { runId: 5 })).toMatch(/runId: .*string/);
    const { runId } = await server.host('wf_start', { script: script(`return agent('x')`) });
    expect(await refusal('workflow_stop', { runId })).toMatch(/wf_cancel/);
    await expect(server.call('workflow_publish')).rejects.toThrow(
      /There is no tool "workflow_publish". Tools: Workflow/,
    );
  });

  it('are left out where the connected agent does everything, or workflows are switched off (H-5, H-11)', async () => {
    const here = place();
    const names = async (options: Parameters<McpPlace['connect']>[0]) => {
      const { client } = await here.connect(options);
      return { names: (await client.listTools()).tools.map(({ name }) => name), about: client.getInstructions() };
    };
    expect((await names({ args: ['--backend', 'host'] })).names).toEqual(HOST_TOOLS);
    const off = await names({ env: { WF_DISABLE_WORKFLOWS: '1' } });
    expect(off.names).toEqual([]);
    expect(off.about).toContain('WF_DISABLE_WORKFLOWS=1');
  });
});

/** A server that a test speaks to in raw lines. */
function rawServer(here: McpPlace, args: readonly string[] = []) {
  const child = spawn(process.execPath, [WF, 'mcp', '--state-dir', here.state, ...args], {
    cwd: here.work,
    env: { PATH: process.env['PATH'], HOME: here.root },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.push(child);
  const answers: { id?: unknown; result?: unknown; error?: { code: number; message: string } }[] = [];
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      answers.push(JSON.parse(text.slice(0, end)));
      text = text.slice(end + 1);
    }
  });
  child.stdin.on('error', () => {});
  const exit = new Promise<number | string | null>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code));
  });
  const initialize = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  return {
    child,
    answers,
    exit,
    write: (line: string) => child.stdin.write(`${line}\n`),
    send: (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    async open() {
      this.send({ id: 0, method: 'initialize', params: initialize });
      await waitUntil(() => answers.length > 0);
      this.send({ method: 'notifications/initialized' });
    },
  };
}

describe('the server as a process', () => {
  it('answers or skips lines that are no messages, and those of 10 MB and more, and goes on (H-10)', async () => {
    const server = rawServer(place());
    server.write('this is no JSON');
    server.write('[]');
    server.write('{"id":7,"method":5}');
    server.write(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"filler":"${'x'.repeat(12_000_000)}"}}`);
    server.write('x'.repeat(45_000_000));
    server.child.stdin.write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
    await server.open();
    server.send({ id: 2, method: 'tools/call', params: { name: 'workflow_list', arguments: 'none' } });
    server.send({ id: 3, method: 'no/such/method' });
    server.send({ id: 4, method: 'tools/list' });
    await waitUntil(() => server.answers.some(({ id }) => id === 4));
    const byId = new Map(server.answers.map((answer) => [answer.id, answer]));
    expect(byId.get(7)?.error?.code).toBe(-32_600);
    expect(byId.get(1)?.result).toEqual({});
    expect(byId.get(2)?.error?.message).toBeDefined();
    expect(byId.get(3)?.error?.code).toBe(-32_601);
    expect(server.child.exitCode).toBeNull();
  });

  it('works while its input is open, and ends within 2 s with it, in the middle of a call too (H-10, H-20)', async () => {
    const here = place();
    const responses = join(here.work, 'responses.json');
    writeFileSync(responses, JSON.stringify({ default: [{ silentMs: 600_000 }, { text: 'late' }] }));
    const server = rawServer(here, ['--responses', responses]);
    await server.open();
    const call = { name: 'Workflow', arguments: { script: script(`return agent('slow')`) } };
    server.send({ id: 1, method: 'tools/call', params: call });
    server.send({ id: 2, method: 'tools/call', params: { name: 'wf_start', arguments: call.arguments } });
    await waitUntil(() => server.answers.length === 3);
    const { runId } = (server.answers[1] as { result: { structuredContent: { runId: string } } }).result
      .structuredContent;
    server.send({ id: 3, method: 'tools/call', params: { name: 'workflow_result', arguments: { runId } } });
    const processes = descendantsOf(server.child.pid as number);
    expect(processes.length).toBeGreaterThan(0);
    const endedAtMs = performance.now();
    server.child.stdin.end();
    expect(await server.exit).toBe(0);
    await waitUntil(() => processes.every((pid) => !isAlive(pid)));
    expect(performance.now() - endedAtMs).toBeLessThan(2_000);
    const later = await here.connect();
    expect((await later.call('workflow_status', { runId })).structured).toMatchObject({ status: 'stopped' });
    const { runs } = (await later.call('workflow_list')).structured as unknown as { runs: { status: string }[] };
    expect(runs.map(({ status }) => status).toSorted()).toEqual(['interrupted', 'stopped']);
  });

  it('ends on a signal with its code, and when nobody reads it any more (H-10, C-7)', async () => {
    const server = rawServer(place());
    await server.open();
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(143);
    const unread = rawServer(place());
    await unread.open();
    unread.child.stdout.destroy();
    unread.send({ id: 1, method: 'tools/list' });
    expect(await unread.exit).toBe(0);
  });

  it('lists saved workflows, and runs them by name for a connected agent (H-10, H-12, H-21)', async () => {
    const here = place();
    mkdirSync(join(here.work, '.wf/workflows'), { recursive: true });
    writeFileSync(join(here.work, '.wf/workflows/greet.js'), script(`return agent('greet ' + args)`));
    const server = await here.connect();
    const { saved } = (await server.call('workflow_list')).structured as unknown as { saved: { name: string }[] };
    expect(saved.map(({ name }) => name)).toContain('greet');
    const begun = await server.host('wf_start', { name: 'greet', args: 'Ada' });
    expect(begun.pending[0]?.instruction).toBe('greet Ada');
  });
});
