import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kinds, type Line, makeRoom, type Room, type StdioClient } from './stdio-client.ts';

let room: Room;
beforeEach(() => {
  room = makeRoom();
  room.put('.wf/workflows/quick.js', workflow('quick', "return { got: args, said: await agent('QUICK') }"));
  room.put(
    '.wf/workflows/slow.js',
    workflow('slow', "await agent('QUICK'); return await agent('SLOW', { label: 'tortoise' })"),
  );
  room.put('r.json', {
    rules: [{ match: 'SLOW', reply: [{ text: 'late', delayMs: 60_000 }] }],
    default: [{ text: 'ok' }],
  });
});
afterEach(() => room.remove());

const workflow = (name: string, body: string): string =>
  `export const meta = { name: '${name}', description: 'a test' }\n${body}\n`;
const open = (...argv: readonly string[]): StdioClient =>
  room.host('--backend', 'scripted', '--responses', 'r.json', ...argv);
const of = (client: StdioClient, subtype: string, taskId?: string): readonly Line[] =>
  client.lines.filter((line) => line.subtype === subtype && (taskId === undefined || line['task_id'] === taskId));
const isWorking = (line: Line): boolean =>
  line.subtype === 'task_progress' && JSON.stringify(line).includes('"tortoise"');

/** Starts the slow workflow and waits until its slow agent is at work. */
async function startSlow(client: StdioClient, count = 1): Promise<string> {
  client.say('/slow');
  await client.result(count);
  const started = of(client, 'task_started')[count - 1] as Line;
  await client.until((line) => isWorking(line) && line['task_id'] === started['task_id']);
  return started['task_id'] as string;
}

describe('the messages of the stdio host', () => {
  it('answers initialize before any init, with commands and without account data (H-6, E-13)', async () => {
    const client = open();
    client.control('a', { subtype: 'initialize', hooks: { Stop: [] }, systemPrompt: [''], agents: {} });
    client.say('/quick');
    const answer = await client.answer('a');
    expect(client.lines[0]).toBe(answer);
    expect(answer['response']).toMatchObject({
      subtype: 'success',
      response: { hooks_applied: false, output_style: 'default' },
    });
    expect(answer['response'].response.commands.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['quick', 'slow']),
    );
    expect(JSON.stringify(answer)).not.toMatch(/account|email|token|organization/i);
    await client.result();
    expect(client.lines[1]).toMatchObject({ type: 'system', subtype: 'init', permissionMode: 'default', tools: [] });
    client.closeInput();
    expect(await client.exit).toBe(0);
  });

  it('writes nothing before something was read, and nothing at all when nothing comes (H-6)', async () => {
    const client = open();
    client.closeInput();
    expect(await client.exit).toBe(0);
    expect([client.lines, client.stderr()]).toEqual([[], '']);
  });

  it('skips what it cannot understand and goes on (H-6)', async () => {
    const client = open();
    const bad = [
      ...['not json at all', '{"type":"user","message":', '[1,2,3]', '42', 'null', '{}', '{"type":"nonsense","x":1}'],
      ...['{"type":42}', '{"type":"user"}', '{"type":"user","message":{"role":"assistant","content":"x"}}'],
      ...['{"type":"user","message":{"role":"user","content":[null]}}', '{"type":"control_response","response":{}}'],
      ...['{"type":"control_request","request":{"subtype":"interrupt"}}', '{"__proto__":{"type":"user"}}'],
      '['.repeat(100_000),
    ];
    const quiet = [
      '{"type":"control_response","response":{"subtype":"success","request_id":"nobody","response":{"behavior":"allow"}}}',
      ...['{"type":"control_cancel_request","request_id":"x"}', '{"type":"keep_alive"}', '\uFEFF   '],
    ];
    client.raw([...bad, ...quiet].join('\r\n'));
    client.raw(Buffer.from([0x0a, 0xff, 0xfe, 0x00, 0x80, 0x0a]));
    client.say('/quick 7');
    client.closeInput();
    expect(await client.exit).toBe(0);
    expect((await client.result(2))['result']).toContain('{"got":7,"said":"ok"}');
    expect(client.stderr().match(/^note: .*skipped/gm)).toHaveLength(bad.length + 1);
  });

  it('answers control requests that it does not know or that are wrong with an error (H-6)', async () => {
    const client = open();
    client.control('1', { subtype: 'make_coffee' });
    client.control('2', { subtype: 'stop_task' });
    client.control('3', { subtype: 'stop_task', task_id: 'nobody' });
    client.control('4', { subtype: 'set_permission_mode', mode: 'reckless' });
    client.send({ type: 'control_request', request_id: '5' });
    client.control('6', { subtype: 'set_permission_mode', mode: 'plan' });
    client.control('7', { subtype: 'mcp_status' });
    const said = await Promise.all(['1', '2', '3', '4', '5', '6', '7'].map((id) => client.answer(id)));
    expect(said.map((line) => line['response'].subtype)).toEqual([...Array(5).fill('error'), 'success', 'success']);
    expect(said.slice(0, 4).map((line) => line['response'].error)).toEqual([
      expect.stringContaining('make_coffee'),
      expect.stringContaining('task_id'),
      expect.stringContaining('no task nobody'),
      expect.stringContaining('acceptEdits'),
    ]);
    client.say('/quick');
    expect((await client.until(({ subtype }) => subtype === 'init'))['permissionMode']).toBe('plan');
  });

  it('takes lines of 10 MB, and skips longer ones than 64 MiB with a word (H-6)', async () => {
    const client = open();
    client.raw(Buffer.alloc(65 * 1024 * 1024, 'x'));
    client.raw('\n');
    client.say(`/quick ${'y'.repeat(10_000_000)}`);
    const result = await client.result(2);
    expect(result['is_error']).toBe(false);
    expect(result['result'].length).toBeLessThan(20_000);
    expect(client.stderr()).toMatch(/68,157,440 bytes was skipped/);
    client.closeInput();
    expect(await client.exit).toBe(0);
  });

  it('takes a last line without a line feed, and content in blocks (H-6)', async () => {
    const client = open();
    const content = [
      { type: 'text', text: '/quick' },
      { type: 'image', source: {} },
    ];
    client.raw(JSON.stringify({ type: 'user', message: { role: 'user', content } }));
    client.closeInput();
    expect(await client.exit).toBe(0);
    expect((await client.result(2))['result']).toContain('"got":"[image left out]"');
  });

  it('takes every option that SDKs pass, and new ones (H-6)', async () => {
    const client = open(
      ...['--model=sonnet', '--permission-prompt-tool=stdio', '--allowedTools=Read,Grep', '--disallowedTools', 'Bash'],
      ...['--setting-sources=project', '--permission-mode=dontAsk', '--include-partial-messages', '--max-turns=3'],
      ...['--mcp-config', '{"mcpServers":{}}', '--add-dir=/', '--fork-session', '--effort=high', '--settings', '{}'],
      ...['--forward-subagent-text', '--append-system-prompt', 'be brief', '-p', '--some-new-option=1', '--other-new'],
      ...['--session-id', '11111111-2222-4333-8444-555555555555'],
    );
    client.say('/quick');
    expect((await client.result(2))['session_id']).toBe('11111111-2222-4333-8444-555555555555');
    expect(of(client, 'init')[0]?.['permissionMode']).toBe('dontAsk');
    expect(client.stderr()).toMatch(/^note: --add-dir changes nothing/m);
  });
});

describe('saved workflows over stdio', () => {
  it('runs /name in the background: the result first, then a turn with the notification (H-7)', async () => {
    const client = open();
    client.say('/quick {"a":[1]}', { uuid: '99999999-2222-4333-8444-555555555555' });
    client.closeInput();
    expect(await client.exit).toBe(0);
    const [launched, told] = client.lines.filter(({ type }) => type === 'result') as [Line, Line];
    const notified = of(client, 'task_notification')[0] as Line;
    expect(client.lines.filter(({ type }) => type === 'result')).toHaveLength(2);
    expect(kinds(client.lines.slice(0, 4))).toEqual([
      'system/init',
      'assistant',
      'system/task_started',
      'system/background_tasks_changed',
    ]);
    expect([launched['is_error'], launched['origin']]).toEqual([false, undefined]);
    expect(told).toMatchObject({ is_error: false, origin: { kind: 'task-notification' } });
    expect(told['result']).toContain('{"got":{"a":[1]},"said":"ok"}');
    const order = [launched, notified, ...client.lines.slice(client.lines.indexOf(notified) + 1)].map((line) =>
      client.lines.indexOf(line),
    );
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(kinds(client.lines.slice(client.lines.indexOf(notified) + 1))).toEqual([
      'system/background_tasks_changed',
      'system/init',
      'user',
      'assistant',
      'result',
    ]);
    const call = client.lines.find(({ type }) => type === 'assistant')?.['message'].content[0];
    const tasks = client.lines.filter((line) => 'task_id' in line);
    expect(new Set(tasks.map((line) => line['tool_use_id']))).toEqual(new Set([call.id]));
    expect(client.lines.find((line) => 'tool_use_result' in line)?.['tool_use_result']).toMatchObject({
      status: 'async_launched',
      taskId: notified['task_id'],
      taskType: 'local_workflow',
      workflowName: 'quick',
    });
  });

  it('gives what stands behind the name as args: JSON, pairs, or text (H-7)', async () => {
    const cases = [
      ['{"deep":{"n":1}}', { deep: { n: 1 } }],
      ['path=src depth=2 on=true text="two words"', { path: 'src', depth: 2, on: true, text: 'two words' }],
      ['look at src = all', 'look at src = all'],
      ['  spaced  ', 'spaced'],
      ['', null],
    ] as const;
    const client = open();
    for (const [rest] of cases) client.say(`/quick ${rest}`);
    client.closeInput();
    expect(await client.exit).toBe(0);
    const got = new Map(
      of(client, 'task_notification').map((line) => {
        const output = JSON.parse(readFileSync(line['output_file'], 'utf8'));
        return [line['task_id'], output.result.got ?? null];
      }),
    );
    expect(of(client, 'task_started').map((line) => got.get(line['task_id']))).toEqual(cases.map(([, args]) => args));
  });

  it('says what there is when there is no such workflow, and that there is no model for other words (H-7)', async () => {
    const client = open();
    client.say('/quik');
    client.say('what is the time?');
    client.say('   ');
    expect(await client.result(1)).toMatchObject({
      is_error: true,
      result: expect.stringMatching(/quik.*quick.*WORKFLOW_UNKNOWN/),
    });
    expect(await client.result(2)).toMatchObject({
      is_error: true,
      result: expect.stringMatching(/No model.*ANTHROPIC_API_KEY/),
    });
    expect(await client.result(3)).toMatchObject({ is_error: true, result: expect.stringMatching(/no text/) });
  });

  it('a script that does not validate starts nothing and says why (H-7, H-2)', async () => {
    room.put('.wf/workflows/broken.js', 'export const meta = { name: "broken" }\nconst = 1');
    const client = open();
    client.say('/broken');
    expect((await client.result())['result']).toMatch(/\[SCRIPT_/);
    expect(of(client, 'task_started')).toEqual([]);
  });

  it('the kill switch lists nothing and runs nothing (H-5)', async () => {
    room.put('.wf/settings.json', { disableWorkflows: true });
    const client = open();
    client.control('a', { subtype: 'initialize' });
    client.say('/quick');
    expect((await client.answer('a'))['response'].response.commands).toEqual([]);
    expect((await client.result())['result']).toMatch(/disableWorkflows.*settings\.json/);
  });

  it('a failed workflow is told as such, and the host goes on (H-7)', async () => {
    room.put('.wf/workflows/bad.js', workflow('bad', "throw new Error('broken inside')"));
    const client = open();
    client.say('/bad');
    expect(await client.result(2)).toMatchObject({ is_error: true, result: expect.stringContaining('broken inside') });
    expect(of(client, 'task_notification')[0]).toMatchObject({ status: 'failed' });
    client.say('/quick');
    expect(await client.result(4)).toMatchObject({ is_error: false });
  });

  it('runs side by side in the dialect cbc (E-8)', async () => {
    const client = open('--dialect', 'cbc');
    client.say('/quick 1');
    client.say('/quick 2');
    await client.result(4);
    const tasks = of(client, 'task_started').map((line) => line['task_id']);
    expect(new Set(tasks).size).toBe(2);
    expect(tasks[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  });
});

describe('interrupts', () => {
  it('acknowledge first, then end the runs of the session, and leave the host alive (E-11, H-8)', async () => {
    const client = open();
    const first = await startSlow(client);
    const second = await startSlow(client, 2);
    client.control('stop', { subtype: 'interrupt' });
    await client.until((line) => line.subtype === 'task_notification' && line['task_id'] === second);
    await client.until((line) => line.subtype === 'task_notification' && line['task_id'] === first);
    const answer = await client.answer('stop');
    expect(answer['response']).toEqual({ subtype: 'success', request_id: 'stop', response: { still_queued: [] } });
    await client.until((line) => line.subtype === 'background_tasks_changed' && line['tasks'].length === 0);
    const after = client.lines.slice(client.lines.indexOf(answer) + 1);
    for (const task of [first, second]) {
      const lines = after.filter((line) => line['task_id'] === task);
      expect(kinds(lines).filter((kind) => kind !== 'system/task_progress')).toEqual([
        'system/task_updated',
        'system/task_notification',
      ]);
      expect(lines.find(({ subtype }) => subtype === 'task_updated')?.['patch']).toMatchObject({
        status: 'killed',
        end_time: expect.any(Number),
      });
      expect(lines.find(({ subtype }) => subtype === 'task_notification')).toMatchObject({ status: 'stopped' });
      const late = lines.at(-1) as Line;
      expect(late.subtype).toBe('task_progress');
      expect(late['workflow_progress'].find(({ label }: { label?: string }) => label === 'tortoise')).toMatchObject({
        state: 'error',
        error: expect.stringMatching(/^subagent aborted: /),
      });
    }
    client.control('again', { subtype: 'interrupt' });
    client.control('other', { subtype: 'interrupt', session_id: 'someone-else' });
    await client.answer('again');
    await client.answer('other');
    const before = client.lines.length;
    client.say('/quick');
    await client.result(4);
    expect(of(client, 'task_notification')).toHaveLength(3);
    expect(kinds(client.lines.slice(before))[0]).toBe('system/init');
    client.closeInput();
    expect(await client.exit).toBe(0);
  });

  it('before anything, of another session, and after the end change nothing (E-11)', async () => {
    const client = open();
    client.control('before', { subtype: 'interrupt' });
    await client.answer('before');
    const task = await startSlow(client);
    client.control('other', { subtype: 'interrupt', session_id: '00000000-0000-4000-8000-000000000000' });
    client.send({
      type: 'control_request',
      request_id: 'other2',
      session_id: 'elsewhere',
      request: { subtype: 'interrupt' },
    });
    await client.answer('other');
    await client.answer('other2');
    client.control('own', {
      subtype: 'interrupt',
      session_id: client.lines.find(({ subtype }) => subtype === 'init')?.['session_id'],
    });
    await client.until(({ subtype }) => subtype === 'task_notification');
    const updated = of(client, 'task_updated', task);
    expect(updated).toHaveLength(1);
    expect(client.lines.indexOf(updated[0] as Line)).toBeGreaterThan(client.lines.indexOf(await client.answer('own')));
    client.control('late', { subtype: 'interrupt' });
    await client.answer('late');
    expect(of(client, 'task_notification')).toHaveLength(1);
    expect(client.lines.filter(({ type }) => type === 'result')).toHaveLength(1);
  });

  it('while a workflow is being started leave no run behind (E-11)', async () => {
    const client = open();
    client.say('/slow');
    client.say('/quick', { uuid: 'aaaaaaaa-2222-4333-8444-555555555555' });
    client.control('now', { subtype: 'interrupt' });
    const answer = await client.answer('now');
    expect(answer['response'].response.still_queued).toEqual(['aaaaaaaa-2222-4333-8444-555555555555']);
    expect(await client.result(1)).toMatchObject({ subtype: 'error_during_execution', is_error: true });
    await client.result(3);
    client.closeInput();
    expect(await client.exit).toBe(0);
    expect(
      of(client, 'task_notification')
        .map((line) => line['status'])
        .sort()
        .at(-1),
    ).not.toBe('completed, slow');
    expect(client.lines.filter(({ type }) => type === 'result')).toHaveLength(3);
  });

  it('drop the messages that wait when they are told to (H-8)', async () => {
    const client = open();
    client.say('/quick 1');
    client.say('/quick 2', { uuid: 'bbbbbbbb-2222-4333-8444-555555555555' });
    client.control('now', { subtype: 'interrupt', cancel_queued: true });
    expect((await client.answer('now'))['response'].response).toEqual({
      still_queued: [],
      cancelled: ['bbbbbbbb-2222-4333-8444-555555555555'],
    });
    client.closeInput();
    expect(await client.exit).toBe(0);
    expect(client.lines.filter(({ type }) => type === 'result')).toHaveLength(1);
  });

  it('stop_task ends one run of two, and what it did is kept (H-6, E-11)', async () => {
    const client = open();
    const first = await startSlow(client);
    const second = await startSlow(client, 2);
    client.control('stop', { subtype: 'stop_task', task_id: first });
    await client.until((line) => line.subtype === 'task_notification');
    client.control('again', { subtype: 'stop_task', task_id: first });
    expect((await client.answer('again'))['response'].subtype).toBe('success');
    expect(of(client, 'task_notification', first)).toHaveLength(1);
    expect(of(client, 'task_updated', second)).toEqual([]);
    const journal = readFileSync(join(room.state, 'runs', first, 'journal.jsonl'), 'utf8');
    expect(journal.match(/"type":"result"/g)).toHaveLength(1);
  });
});

describe('the end of the stdio host', () => {
  it('waits for what runs when stdin is closed, tells it, and exits 0 (H-8)', async () => {
    room.put('r.json', {
      rules: [{ match: 'SLOW', reply: [{ text: 'late', delayMs: 400 }] }],
      default: [{ text: 'ok' }],
    });
    const client = open();
    client.say('/slow');
    client.say('/quick');
    client.closeInput();
    expect(await client.exit).toBe(0);
    expect(of(client, 'task_notification').map((line) => line['status'])).toEqual(['completed', 'completed']);
    expect(client.lines.filter((line) => line.type === 'result' && line['origin'] !== undefined)).toHaveLength(2);
    expect(client.lines.at(-1)).toMatchObject({ type: 'result', origin: { kind: 'task-notification' } });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s stops cleanly with %i within 2 s and leaves no process (H-8)', async (signal, code) => {
    const client = open();
    const task = await startSlow(client);
    const children = childrenOf(client.child.pid ?? 0);
    expect(children.length).toBeGreaterThan(0);
    const sentAt = performance.now();
    client.child.kill(signal);
    expect(await client.exit).toBe(code);
    expect(performance.now() - sentAt).toBeLessThan(2_000);
    expect(of(client, 'task_notification', task)).toHaveLength(1);
    await expect.poll(() => children.filter(isAlive), { timeout: 2_000 }).toEqual([]);
  });

  it('a signal ends it in time although nobody reads (H-8)', async () => {
    room.put('.wf/workflows/quick.js', workflow('quick', `/* ${'x'.repeat(400_000)} */ return await agent('SLOW')`));
    const client = open();
    client.pause();
    client.say('/quick');
    await expect
      .poll(() => existsSync(join(room.state, 'runs')) && readdirSync(join(room.state, 'runs')).length)
      .toBe(1);
    const sentAt = performance.now();
    client.child.kill('SIGTERM');
    const code = await new Promise((resolve) => {
      client.child.on('exit', resolve);
    });
    expect([code, performance.now() - sentAt < 2_000]).toEqual([143, true]);
  });

  it('a client that stops reading and goes on has every critical line, in order (E-9, H-8)', async () => {
    const script = `/* ${'x'.repeat(200_000)} */ await parallel(Array.from({ length: 300 }, (_, i) => () => agent('QUICK ' + i))); return 'all'`;
    room.put('.wf/workflows/many.js', workflow('many', script));
    const client = open();
    client.pause();
    client.say('/many');
    client.say('/many');
    client.closeInput();
    const ends = (): number => {
      const runs = existsSync(join(room.state, 'runs')) ? readdirSync(join(room.state, 'runs')) : [];
      return runs.filter((run) => existsSync(join(room.state, 'runs', run, 'output.json'))).length;
    };
    await expect.poll(ends, { timeout: 20_000 }).toBe(2);
    client.resume();
    expect(await client.exit).toBe(0);
    for (const task of of(client, 'task_started').map((line) => line['task_id'])) {
      expect(
        kinds(client.lines.filter((line) => line['task_id'] === task)).filter(
          (kind) => kind !== 'system/task_progress',
        ),
      ).toEqual(['system/task_started', 'system/task_updated', 'system/task_notification']);
      const last = client.lines.findLast((line) => line['task_id'] === task && line.subtype === 'task_progress');
      expect(last?.['usage']).toBeDefined();
    }
    expect(client.lines.filter(({ type }) => type === 'result')).toHaveLength(4);
  });

  it('a client that goes away loses its lines and no run (H-8, E-3)', async () => {
    const client = open();
    client.say('/quick');
    await client.result();
    client.child.stdout?.destroy();
    client.say('/quick');
    client.closeInput();
    expect(await client.exit).toBe(0);
    const runs = readdirSync(join(room.state, 'runs'));
    expect(
      runs.map((run) => JSON.parse(readFileSync(join(room.state, 'runs', run, 'output.json'), 'utf8')).status),
    ).toEqual(['completed', 'completed']);
  });
});

function childrenOf(pid: number): readonly number[] {
  const text = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return text
    .split('\n')
    .map(Number)
    .filter((child) => child > 0);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
