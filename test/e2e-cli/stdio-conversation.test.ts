import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeApi, startFakeApi } from '../support/fake-messages-api.mjs';
import { kinds, type Line, makeRoom, type Room, type StdioClient } from './stdio-client.ts';

const SCRIPT = `export const meta = { name: 'made', description: 'written by the model' }
const all = await parallel([1, 2].map((i) => () => agent('AGENT ' + i)))
return { all, budget: budget.total }`;
const SLOW = `export const meta = { name: 'slow', description: 'never ends' }
return await agent('SLEEPER')`;

const launch = (input: object): object => ({ tool: { name: 'Workflow', input } });
const RULES = {
  rules: [
    { match: 'AGENT (\\d)', reply: [{ text: 'answer $1' }] },
    {
      match: 'SLEEPER',
      reply: [
        { tool: { name: 'Glob', input: { pattern: '*' } }, usage: { input_tokens: 1_000 } },
        { text: 'late', lateMs: 60_000 },
      ],
    },
    {
      match: '^MAKE',
      reply: [launch({ script: SCRIPT }), { text: 'It runs.' }, { text: 'It is done.' }, { text: 'Later.' }],
    },
    {
      match: '^TWICE',
      reply: [{ blocks: [launch({ script: SCRIPT }), launch({ script: SCRIPT })] }, { text: 'Both?' }, { text: 'ok' }],
    },
    { match: '^START SLOW', reply: [launch({ script: SLOW }), { text: 'It runs.' }, { text: 'I see it stopped.' }] },
    {
      match: '^BAD',
      reply: [
        launch({ script: 'const = 1' }),
        launch({ nonsense: 1 }),
        { tool: { name: 'Bash', input: {} } },
        { text: 'I give up.' },
      ],
    },
    { match: '^THINK', reply: [{ text: 'a long thought', lateMs: 60_000, usage: { input_tokens: 1_000 } }] },
    { match: '^FLAKY', reply: [{ error: { status: 529, message: 'busy', retryAfterMs: 1 } }, { text: 'at last' }] },
    { match: '^DENIED', reply: [{ error: { status: 401, message: 'bad key' } }] },
    { match: '^LOOP', reply: [launch({ nonsense: 1 })] },
    { match: '^HELLO', reply: [{ text: 'Hello to you.' }, { text: 'Hello again.' }] },
  ],
};

let api: FakeApi;
let room: Room;
beforeEach(async () => {
  api = await startFakeApi({ rules: RULES });
  room = makeRoom({ ANTHROPIC_API_KEY: 'sk-ant-api03-this-is-a-secret-key', ANTHROPIC_BASE_URL: api.url });
});
afterEach(async () => {
  room.remove();
  await api.close();
});

const of = (client: StdioClient, subtype: string): readonly Line[] =>
  client.lines.filter((line) => line.subtype === subtype);
const results = (client: StdioClient): readonly string[] =>
  client.lines.filter(({ type }) => type === 'result').map((line) => line['result'] ?? line.subtype);
const asked = (client: StdioClient): Promise<Line> =>
  client.until((line) => line.type === 'control_request' && line['request'].subtype === 'can_use_tool');
const reply = (client: StdioClient, to: Line, response: object): void =>
  client.send({ type: 'control_response', response: { subtype: 'success', request_id: to['request_id'], response } });

describe('the main conversation over stdio', () => {
  it('the model writes a workflow, ends its turn, and gets a new one with the notification (H-7, E-16)', async () => {
    const client = room.host();
    client.say('MAKE something');
    client.closeInput();
    expect(await client.exit).toBe(0);
    expect(results(client)).toEqual(['It runs.', 'It is done.']);
    expect(client.lines.filter(({ type }) => type === 'result').map((line) => line['origin'])).toEqual([
      undefined,
      { kind: 'task-notification' },
    ]);
    expect(of(client, 'init')[0]).toMatchObject({ tools: ['Workflow', 'TaskStop'], apiKeySource: 'ANTHROPIC_API_KEY' });
    const costs = client.lines.filter(({ type }) => type === 'result').map((line) => line['total_cost_usd']);
    expect([costs[0] > 0, costs[1] > costs[0] * 1.4]).toEqual([true, true]);
    const notified = of(client, 'task_notification')[0] as Line;
    const call = client.lines.find(({ type }) => type === 'assistant')?.['message'].content[0];
    expect([notified['status'], notified['tool_use_id']]).toEqual(['completed', call.id]);
    const told = client.lines.find((line) => line.type === 'user' && line['isSynthetic']);
    expect(told?.['message'].content).toMatch(/^<task-notification>[\s\S]*<result>{"all":\["answer 1","answer 2"\]/);
    expect(api.stats.refused).toEqual([]);
    const [first] = api.stats.calls;
    expect(first?.tools).toEqual(['Workflow', 'TaskStop']);
    expect(client.lines.map((line) => JSON.stringify(line)).join('')).not.toContain('this-is-a-secret');
    expect(kinds(client.lines).filter((kind) => !kind.startsWith('system/task'))).toEqual([
      ...['system/init', 'assistant', 'system/background_tasks_changed', 'user', 'assistant', 'result'],
      ...['system/background_tasks_changed', 'system/init', 'user', 'assistant', 'result'],
    ]);
  });

  it('keeps its history over turns, and over sessions with --resume (H-6, H-7)', async () => {
    const client = room.host();
    client.say('HELLO one');
    client.say('and two');
    client.closeInput();
    expect(await client.exit).toBe(0);
    const sessionId = of(client, 'init')[0]?.['session_id'] as string;
    const again = room.host(`--resume=${sessionId}`);
    again.say('and three');
    again.closeInput();
    expect(await again.exit).toBe(0);
    expect(of(again, 'init')[0]?.['session_id']).toBe(sessionId);
    expect(api.stats.calls.map(({ userText }) => userText)).toEqual([
      'HELLO one',
      'HELLO one\nand two',
      'HELLO one\nand two\nand three',
    ]);
    const fork = room.host('--resume', sessionId, '--fork-session');
    fork.say('and four');
    fork.closeInput();
    await fork.exit;
    expect(of(fork, 'init')[0]?.['session_id']).not.toBe(sessionId);
    expect(api.stats.calls.at(-1)?.userText).toContain('and three\nand four');
    const unknown = room.host('--resume', '00000000-0000-4000-8000-000000000000');
    expect(await unknown.exit).toBe(66);
    expect([unknown.lines, unknown.stderr()]).toEqual([[], expect.stringContaining('there is no session 00000000')]);
    const elsewhere = room.host('--resume', '../../etc/passwd');
    expect(await elsewhere.exit).toBe(64);
  });

  it('shows answers while they come with --include-partial-messages (H-6)', async () => {
    const client = room.host('--include-partial-messages');
    client.say('HELLO');
    await client.result();
    const events = client.lines.filter(({ type }) => type === 'stream_event').map((line) => line['event']);
    expect(events[0]).toMatchObject({ type: 'message_start' });
    expect(events.at(-1)).toMatchObject({ type: 'message_stop' });
    const said = events.map((event) => event.delta?.text ?? '').join('');
    const whole = client.lines.find(({ type }) => type === 'assistant');
    expect(said).toBe('Hello to you.');
    expect(whole?.['message']).toMatchObject({ id: events[0].message.id, content: [{ type: 'text', text: said }] });
  });

  it('uses the instructions and the model that the client names (H-6)', async () => {
    const client = room.host('--model', 'opus');
    client.control('1', { subtype: 'initialize', systemPrompt: 'You are a parrot.', appendSystemPrompt: 'Be loud.' });
    client.say('HELLO');
    await client.result();
    client.control('2', { subtype: 'set_model', model: 'haiku' });
    client.say('once more');
    await client.result(2);
    expect(api.stats.calls.map(({ model, systemText }) => [model, systemText])).toEqual([
      [expect.stringContaining('opus'), 'You are a parrot.\n\nBe loud.'],
      [expect.stringContaining('haiku'), 'You are a parrot.\n\nBe loud.'],
    ]);
    expect(of(client, 'init').map((line) => line['model'])).toEqual(api.stats.calls.map(({ model }) => model));
  });

  it('tells the model what is wrong with a call, and goes on (H-2, H-7)', async () => {
    const client = room.host();
    client.say('BAD');
    expect((await client.result())['result']).toBe('I give up.');
    const told = client.lines.filter(({ type }) => type === 'user').map((line) => line['message'].content[0]);
    expect(told.map(({ is_error: isError }) => isError)).toEqual([true, true, true]);
    expect(told.map(({ content }) => content)).toEqual([
      expect.stringMatching(/SCRIPT_/),
      expect.stringContaining('nonsense'),
      expect.stringContaining('no tool named Bash'),
    ]);
    expect(of(client, 'task_started')).toEqual([]);
  });

  it('tries again after a transient error, and says what no retry mends (A-13)', async () => {
    const client = room.host();
    client.say('FLAKY');
    expect(await client.result()).toMatchObject({ is_error: false, result: 'at last' });
    expect(of(client, 'api_retry')).toEqual([expect.objectContaining({ attempt: 1, error_status: 529 })]);
    client.say('x');
    await client.result(2);
    const other = room.host();
    other.say('DENIED');
    expect(await other.result()).toMatchObject({
      is_error: true,
      result: expect.stringMatching(/401.*\[AGENT_AUTH\]/),
    });
  });

  it('ends a turn at --max-turns requests (H-6)', async () => {
    const client = room.host('--max-turns', '2');
    client.say('LOOP');
    expect(await client.result()).toMatchObject({ subtype: 'error_max_turns', errors: [expect.stringContaining('2')] });
    expect(api.stats.requests).toBe(2);
  });

  it('--mcp-config gives servers to the model and to agents, one process for both; mcp_status tells how they are (H-6)', async () => {
    const server = fileURLToPath(new URL('../support/tool-server.mjs', import.meta.url));
    const log = join(room.root, 'server.log');
    const echo = (text: string): object => ({ tool: { name: 'mcp__tools__echo', input: { text } } });
    const agent = `export const meta = { name: 'm', description: 'd' }\nreturn agent('ECHO')`;
    api.reset({
      rules: [
        {
          match: '^USE',
          reply: [echo('from the model'), launch({ script: agent }), { text: 'It runs.' }, { text: 'ok' }],
        },
        { match: '^ECHO', reply: [echo('from an agent'), { text: 'said' }] },
      ],
    });
    const tools = { command: process.execPath, args: [server], env: { SERVER_LOG: log } };
    const mcpServers = { tools, inside: { type: 'sdk', name: 'inside' }, closed: { command: 'no-such-program' } };
    room.put('.mcp.json', { mcpServers: { ofProject: tools } });
    const argv = [
      '--mcp-config',
      JSON.stringify({ mcpServers }),
      '--strict-mcp-config',
      '--allowedTools',
      'mcp__tools',
    ];
    const client = room.host(...argv);
    client.say('USE them');
    await client.result(2);
    client.control('status', { subtype: 'mcp_status' });
    expect((await client.answer('status'))['response'].response.mcpServers).toEqual([
      { name: 'inside', status: 'failed', error: expect.stringContaining('"sdk"') },
      { name: 'tools', status: 'connected' },
      { name: 'closed', status: 'pending' },
    ]);
    expect(of(client, 'init').at(-1)?.['mcp_servers']).toContainEqual({ name: 'tools', status: 'connected' });
    expect(api.stats.calls.map(({ lastUser }) => lastUser).filter((text) => text.includes('echo: '))).toEqual([
      expect.stringContaining('echo: from the model'),
      expect.stringContaining('echo: from an agent'),
    ]);
    expect(client.stderr()).toMatch(/closed is not started.*--allowedTools 'mcp__closed'/);
    client.closeInput();
    expect(await client.exit).toBe(0);
    expect(readFileSync(log, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  it('--forward-subagent-text shows what agents say, under the call that started their workflow (H-6)', async () => {
    const client = room.host('--forward-subagent-text');
    client.say('MAKE something');
    await client.result(2);
    const call = client.lines.find(({ type }) => type === 'assistant')?.['message'].content[0];
    const told = client.lines.filter((line) => line.type === 'assistant' && line['parent_tool_use_id'] !== null);
    expect(told.map((line) => line['parent_tool_use_id'])).toEqual([call.id, call.id]);
    expect(told.map((line) => line['message'].content[0].text).toSorted()).toEqual(['answer 1', 'answer 2']);
  });

  it('a budget in the prompt bounds the run, the turn’s own tokens counted (A-16)', async () => {
    const client = room.host();
    client.say('MAKE something +500k');
    await client.result(2);
    const output = JSON.parse(readFileSync(of(client, 'task_notification')[0]?.['output_file'], 'utf8'));
    expect(output.result.budget).toBe(500_000 - 10);
    const other = room.host();
    other.say('TWICE +2k');
    await other.until((line) => line.type === 'result' && line['result'] === 'Both?');
    const told = other.lines.find((line) => line.type === 'user' && Array.isArray(line['message'].content));
    const texts = told?.['message'].content.map(({ content }: { content: string }) => content);
    expect(texts.filter((text: string) => text.includes('LIMIT_BUDGET'))).toHaveLength(1);
  });
});

describe('interrupts of the main conversation', () => {
  it('end the turn at once, and the history stays one that a model can be asked with (E-11, H-8)', async () => {
    const client = room.host('--include-partial-messages');
    client.say('THINK');
    await client.until(({ type }) => type === 'stream_event');
    client.control('stop', { subtype: 'interrupt' });
    const result = await client.result();
    expect(result).toMatchObject({ subtype: 'error_during_execution', is_error: true });
    // What was asked is paid for, whatever became of the answer.
    expect(result['total_cost_usd']).toBeGreaterThanOrEqual(0.002);
    await expect.poll(() => api.stats.inFlight, { timeout: 10_000 }).toBe(0);
    client.say('and now');
    client.control('stop2', { subtype: 'interrupt' });
    await client.result(2);
    expect(client.lines.findIndex(({ type }) => type === 'result')).toBeGreaterThan(
      client.lines.indexOf(await client.answer('stop')),
    );
    expect(api.stats.refused).toEqual([]);
    client.closeInput();
    expect(await client.exit).toBe(0);
  });

  it('of a run are told to the model with the next message, without a turn of their own (H-8)', async () => {
    const client = room.host();
    client.say('START SLOW');
    await client.result();
    await client.until((line) => JSON.stringify(line).includes('"toolCalls":1'));
    client.control('stop', { subtype: 'interrupt' });
    const { usage } = await client.until(({ subtype }) => subtype === 'task_notification');
    expect(usage.cost_usd).toBeGreaterThan(0.002);
    client.say('what happened?');
    expect(await client.result(2)).toMatchObject({ result: 'I see it stopped.' });
    expect((await client.result(2))['total_cost_usd']).toBeGreaterThan(usage.cost_usd);
    expect(api.stats.calls.at(-1)?.lastUser).toMatch(
      /^<task-notification>[\s\S]*<status>stopped[\s\S]*what happened\?$/,
    );
    client.closeInput();
    expect(await client.exit).toBe(0);
    expect(results(client)).toHaveLength(2);
  });

  it('the model stops a run with TaskStop and reads its end in the answer (H-7)', async () => {
    const client = room.host();
    client.say('START SLOW');
    await client.result();
    const task = of(client, 'task_started')[0]?.['task_id'];
    const stop = { tool: { name: 'TaskStop', input: { task_id: task } } };
    const past = { text: 'said before' };
    const reply = [past, past, stop, { text: 'It stands still.' }];
    api.reset({ rules: [...RULES.rules.slice(0, 2), { match: '^START SLOW', reply }] });
    client.say('stop it');
    client.closeInput();
    expect(await client.exit).toBe(0);
    expect(results(client)).toEqual(['It runs.', 'It stands still.']);
    expect(of(client, 'task_notification')).toEqual([expect.objectContaining({ task_id: task, status: 'stopped' })]);
    expect(api.stats.calls.at(-1)?.lastUser).toMatch(/<task-notification>[\s\S]*<status>stopped/);
  });
});

describe('permission requests over stdio', () => {
  const ask = (...argv: readonly string[]): StdioClient => room.host('--permission-prompt-tool=stdio', ...argv);

  it('ask before the model’s workflow starts; an allowed one may be changed (H-6)', async () => {
    const client = ask();
    client.say('MAKE something');
    const question = await asked(client);
    expect(question['request']).toMatchObject({
      tool_name: 'Workflow',
      input: { script: SCRIPT },
      tool_use_id: expect.any(String),
    });
    expect(of(client, 'task_started')).toEqual([]);
    reply(client, question, { behavior: 'allow', updatedInput: { script: SCRIPT.replace("'made'", "'changed'") } });
    await client.result(2);
    expect(of(client, 'task_started')[0]?.['workflow_name']).toBe('changed');
  });

  it('a refused one starts nothing, the model reads why, and the result names it (H-6)', async () => {
    const client = ask();
    client.say('MAKE something');
    reply(client, await asked(client), { behavior: 'deny', message: 'not on a Friday' });
    const result = await client.result();
    expect(result['permission_denials']).toEqual([expect.objectContaining({ tool_name: 'Workflow' })]);
    expect(api.stats.calls.at(-1)?.lastUser).toContain('not on a Friday');
    expect(of(client, 'task_started')).toEqual([]);
  });

  it.each([[['--permission-mode', 'bypassPermissions']], [['--allowedTools', 'Read,Workflow']]])(
    'with %j nobody is asked (H-6)',
    async (argv) => {
      const client = ask(...argv);
      client.say('MAKE something');
      await client.result(2);
      expect(client.lines.filter(({ type }) => type === 'control_request')).toEqual([]);
    },
  );

  it('ask for the tools of subagents, which follow the mode that the client sets (H-6, A-29)', async () => {
    const write = (name: string): object => ({
      tool: { name: 'Write', input: { file_path: name, content: 'written' } },
    });
    api.reset({ rules: [{ match: '^WRITE (\\S+)', reply: [write('$1'), { text: 'written or not' }] }] });
    room.put(
      '.wf/workflows/w.js',
      "export const meta = { name: 'w', description: 'writes' }\nreturn await agent('WRITE ' + args)",
    );
    const client = ask();
    client.say('/w allowed.txt');
    const question = await asked(client);
    expect(question['request']).toMatchObject({
      tool_name: 'Write',
      input: { file_path: 'allowed.txt' },
      agent_id: expect.stringMatching(/^a[0-9a-f]{16}$/),
      decision_reason: expect.any(String),
    });
    reply(client, question, { behavior: 'allow' });
    await client.result(2);
    expect(readFileSync(`${room.cwd}/allowed.txt`, 'utf8')).toBe('written');
    client.control('mode', { subtype: 'set_permission_mode', mode: 'acceptEdits' });
    client.say('/w unasked.txt');
    await client.result(4);
    expect(readFileSync(`${room.cwd}/unasked.txt`, 'utf8')).toBe('written');
    expect(client.lines.filter(({ type }) => type === 'control_request')).toHaveLength(1);
  });

  it('are taken back by an interrupt, and refused when stdin is closed or the answer makes no sense (H-6, E-11)', async () => {
    const client = ask();
    client.say('MAKE something');
    const question = await asked(client);
    client.control('stop', { subtype: 'interrupt' });
    const cancelled = await client.until(({ type }) => type === 'control_cancel_request');
    expect(cancelled['request_id']).toBe(question['request_id']);
    expect(client.lines.indexOf(cancelled)).toBeGreaterThan(client.lines.indexOf(await client.answer('stop')));
    reply(client, question, { behavior: 'allow' });
    expect(await client.result()).toMatchObject({ subtype: 'error_during_execution' });

    const odd = ask();
    odd.say('MAKE something');
    reply(odd, await asked(odd), { behavior: 'maybe' });
    await odd.result();
    expect(api.stats.calls.at(-1)?.lastUser).toContain('counts as a no');

    const gone = ask();
    gone.say('MAKE something');
    await asked(gone);
    gone.closeInput();
    expect(await gone.exit).toBe(0);
    expect(api.stats.calls.at(-1)?.lastUser).toContain('Nobody is there');
    expect([of(client, 'task_started'), of(odd, 'task_started'), of(gone, 'task_started')]).toEqual([[], [], []]);
  });
});
