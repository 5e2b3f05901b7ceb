import { describe, expect, it } from 'vitest';
import { loadResponsesFile } from '../../../../agents/scripted/load-responses-file.ts';
import { createRecordingBackend } from '../../../../agents/scripted/recording-backend.ts';
import { createScriptedBackend } from '../../../../agents/scripted/scripted-backend.ts';
import type { ResponsesFile } from '../../../../protocol/responses-file.ts';
import type { AgentBackend, AgentRequest } from '../../../../runtime/ports.ts';
import { agentRequest, listContract, numberContract } from '../../../support/agent-request.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { FakeReporter } from '../../../support/fake-reporter.ts';

const { signal } = new AbortController();

async function answerTo(backend: AgentBackend, prompt: string, changes: Partial<AgentRequest> = {}): Promise<unknown> {
  return backend.run(agentRequest(prompt, changes), signal, new FakeReporter()).then(
    ({ valueJson }) => JSON.parse(valueJson),
    (error: { code: string }) => error.code,
  );
}

describe('the scripted backend', () => {
  it('takes the first rule that matches and is not used up, else the default (C-12)', async () => {
    const backend = createScriptedBackend({
      rules: [
        { match: 'TWICE', times: 2, reply: [{ text: 'first' }] },
        { match: 'TWICE', reply: [{ text: 'second' }] },
        { match: null, label: 'exact', reply: [{ text: 'by label' }] },
        { match: 'BOTH', label: 'other', reply: [{ text: 'both' }] },
      ],
      default: [{ text: 'default' }],
    });
    const values = [];
    for (const prompt of ['TWICE', 'TWICE', 'TWICE', 'BOTH']) values.push(await answerTo(backend, prompt));
    values.push(
      await answerTo(backend, 'any', { label: 'exact' }),
      await answerTo(backend, 'any', { label: 'exact no' }),
    );
    values.push(await answerTo(backend, 'BOTH', { label: 'other' }));
    expect(values).toEqual(['first', 'first', 'second', 'default', 'by label', 'default', 'both']);
  });

  it('ends with AGENT_NO_RESPONSE when nothing was planned, naming the prompt (C-12)', async () => {
    const backend = createScriptedBackend({ rules: [{ match: 'KNOWN', reply: [{ text: 'yes' }] }] });
    await expect(backend.run(agentRequest('OTHER'), signal, new FakeReporter())).rejects.toMatchObject({
      code: 'AGENT_NO_RESPONSE',
      message: expect.stringContaining('OTHER'),
    });
  });

  it('puts captures into texts and JSON, and leaves a $5 that is no capture (C-12)', async () => {
    const backend = createScriptedBackend({
      rules: [
        { match: 'item (\\d+)( x)?', reply: [{ text: '$1, "$2" and $5' }] },
        { match: 'json (\\d+)', reply: [{ json: { n: 1, list: ['$1', { deep: '$1' }] } }] },
      ],
    });
    expect(await answerTo(backend, 'item 12')).toBe('12, "" and $5');
    expect(await answerTo(backend, 'json 34', { output: numberContract })).toEqual({
      n: 1,
      list: ['34', { deep: '34' }],
    });
  });

  it('gives a planned json as text to a call without a schema', async () => {
    const backend = createScriptedBackend({ default: [{ json: { n: 1 } }] });
    expect(await answerTo(backend, 'GO')).toBe('{"n":1}');
  });

  it('counts agents in times, so that turns of one agent are free (C-12)', async () => {
    const busy = { error: { status: 529 } };
    const backend = createScriptedBackend({ rules: [{ times: 1, reply: [busy, busy, { text: 'ok' }] }] });
    expect(await answerTo(backend, 'GO')).toBe('ok');
    expect(await answerTo(backend, 'GO')).toBe('AGENT_NO_RESPONSE');
  });

  it('waits delayMs, and silentMs before the turn that follows (C-12)', async () => {
    const clock = new FakeClock();
    const reply = [{ silentMs: 500 }, { text: 'spoken', delayMs: 100 }];
    const backend = createScriptedBackend({ default: reply }, { clock });
    const report = new FakeReporter();
    let value: string | undefined;
    const running = backend.run(agentRequest('GO'), signal, report).then((outcome) => {
      value = outcome.valueJson;
    });
    await clock.advance(599);
    expect([value, report.signsOfLife]).toEqual([undefined, 0]);
    await clock.advance(1);
    await running;
    expect(value).toBe('"spoken"');
  });

  it('takes no timer for an answer without a delay, and drops the one of an aborted agent (A-18)', async () => {
    const clock = new FakeClock();
    const backend = createScriptedBackend(
      { rules: [{ match: 'SLOW', reply: [{ text: 'x', delayMs: 9 }] }], default: [{ text: 'quick' }] },
      { clock },
    );
    await answerTo(backend, 'GO');
    expect(clock.pending).toBe(0);
    const controller = new AbortController();
    const running = backend.run(agentRequest('SLOW'), controller.signal, new FakeReporter());
    running.catch(() => {});
    await settle();
    expect(clock.pending).toBe(1);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    expect(clock.pending).toBe(0);
  });
});

describe('a recording', () => {
  it('plays back as it went, failures and odd characters included (C-12)', async () => {
    const file: ResponsesFile = {
      rules: [
        { match: '^SAME', times: 1, reply: [{ text: 'costs $1 (once)' }] },
        { match: '^SAME', reply: [{ text: 'second' }] },
        { match: 'NUMBER', reply: [{ json: { n: 7 } }] },
        { match: 'LIST', reply: [{ json: [1, 2] }] },
        { match: 'DEAD', reply: [{ error: { status: 400, message: 'dead' } }] },
        { match: 'PROSE', reply: [{ text: 'prose' }] },
      ],
    };
    const calls: [string, Partial<AgentRequest>][] = [
      ['SAME (a+b)? [x] $1\nC:\\dir', {}],
      ['SAME (a+b)? [x] $1\nC:\\dir', {}],
      ['NUMBER', { output: numberContract }],
      ['LIST', { output: listContract }],
      ['DEAD', {}],
      ['PROSE', { output: numberContract }],
    ];
    const play = async (backend: AgentBackend): Promise<unknown[]> => {
      const values = [];
      for (const [prompt, changes] of calls) values.push(await answerTo(backend, prompt, changes));
      return values;
    };
    const written: string[] = [];
    const recording = createRecordingBackend(createScriptedBackend(file), async (text) => {
      written.push(text);
    });
    const values = await play(recording);
    await recording.close();
    await recording.close();
    expect(written).toHaveLength(1);
    // As it travels, so that any reader of the file agrees on it.
    expect(JSON.parse(written[0] ?? '').rules[3].reply[0].json).toEqual({ value: [1, 2] });
    expect(values).toEqual(['costs $1 (once)', 'second', { n: 7 }, [1, 2], 'AGENT_API', 'AGENT_NO_OUTPUT']);
    expect(await play(createScriptedBackend(loadResponsesFile(written[0] ?? '', 'recorded')))).toEqual(values);
  });
});
