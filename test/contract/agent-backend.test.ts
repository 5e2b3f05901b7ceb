import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ResponsesFile } from '../../protocol/responses-file.ts';
import { isWorkflowError, WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentRequest } from '../../runtime/ports.ts';
import { agentRequest, listContract, numberContract } from '../support/agent-request.ts';
import { settle } from '../support/fake-clock.ts';
import { FakeReporter, RetriesUsedUp } from '../support/fake-reporter.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ALL_BACKENDS, type BackendUnderTest, PLANNED_BACKENDS, type PlannedBackend } from './backends-under-test.ts';

const opened: PlannedBackend[] = [];
afterEach(async () => {
  for (const planned of opened.splice(0)) {
    expect(planned.refused()).toEqual([]);
    await planned.close();
  }
});

async function start(under: BackendUnderTest, file: ResponsesFile): Promise<PlannedBackend> {
  const planned = await under.start(file);
  opened.push(planned);
  return planned;
}

/** Runs one agent whose prompt is GO with the given turns. */
async function runOne(
  under: BackendUnderTest,
  reply: NonNullable<ResponsesFile['default']>,
  changes: Partial<AgentRequest> = {},
  report = new FakeReporter(),
) {
  const planned = await start(under, { rules: [{ match: 'GO', reply }] });
  const settled = await planned.backend.run(agentRequest('GO', changes), new AbortController().signal, report).then(
    (outcome) => ({ outcome, error: undefined }),
    (error: unknown) => ({ outcome: undefined, error }),
  );
  return { ...settled, report, planned };
}

function workflowError(error: unknown): WorkflowError {
  if (!isWorkflowError(error)) throw new Error(`not a WorkflowError: ${String(error)}`);
  return error;
}

describe.each(ALL_BACKENDS)('every backend: $name', (under) => {
  const file: ResponsesFile = {
    rules: [{ match: 'NUMBER', reply: [{ json: { n: 4 } }] }],
    default: [{ text: 'hello' }],
  };

  it('answers a prompt with a JSON text, and reports usage and a transcript (A-22, A-31)', async () => {
    const { backend } = await start(under, file);
    const report = new FakeReporter();
    const outcome = await backend.run(agentRequest('SAY hello'), new AbortController().signal, report);
    expect(typeof JSON.parse(outcome.valueJson)).toBe('string');
    expect(outcome).toMatchObject({ empty: false, attempts: 0 });
    expect(report.outputTokens).toBe(outcome.usage.outputTokens);
    expect(report.rows.map(({ type }) => type)).toEqual(expect.arrayContaining(['user', 'assistant']));
    expect(report.signsOfLife).toBeGreaterThan(0);
  });

  it('gives a value that the contract of the call accepts (A-2, A-5)', async () => {
    const { backend } = await start(under, file);
    const request = agentRequest('NUMBER please', { output: numberContract });
    const outcome = await backend.run(request, new AbortController().signal, new FakeReporter());
    expect(numberContract.judge(outcome.valueJson)).toMatchObject({ ok: true });
    expect(outcome.attempts).toBe(1);
  });

  it('rejects at once, as cancelled, when its signal had aborted (A-18)', async () => {
    const { backend } = await start(under, file);
    const aborted = AbortSignal.abort(new WorkflowError('RUN_CANCELLED', 'stopped before it began'));
    const running = backend.run(agentRequest('SAY'), aborted, new FakeReporter());
    await expect(running).rejects.toMatchObject({ kind: 'cancelled' });
  });

  it('runs many agents at once, each with its own answer (A-22)', async () => {
    const { backend } = await start(under, file);
    const { signal } = new AbortController();
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, i) => backend.run(agentRequest(`SAY ${i}`), signal, new FakeReporter())),
    );
    expect(outcomes.every(({ valueJson }) => typeof JSON.parse(valueJson) === 'string')).toBe(true);
  });

  it('may be closed twice', async () => {
    const { backend } = await start(under, file);
    await backend.close();
    await expect(backend.close()).resolves.toBeUndefined();
  });
});

describe.each(PLANNED_BACKENDS)('a planned backend: $name', (under) => {
  it('gives the final text verbatim (A-2)', async () => {
    const text = '  ```js\nconst 漢 = "\u2028🎉"\n```\n';
    const { outcome, report } = await runOne(under, [{ text, usage: { input_tokens: 7, output_tokens: 3 } }]);
    expect(JSON.parse(outcome?.valueJson ?? '')).toBe(text);
    expect(outcome?.usage).toEqual({ inputTokens: 7, outputTokens: 3 });
    expect(report.usages).toEqual([{ inputTokens: 7, outputTokens: 3 }]);
  });

  it('asks once more after an empty text, and takes the second answer (A-2)', async () => {
    const { outcome, report } = await runOne(under, [{ text: '' }, { text: 'there' }]);
    expect(outcome).toMatchObject({ valueJson: '"there"', empty: false });
    expect(report.usages).toHaveLength(2);
  });

  it('gives the empty text, marked, when it stays empty (A-2)', async () => {
    const { outcome, report } = await runOne(under, [{ text: '' }]);
    expect(outcome).toMatchObject({ valueJson: '""', empty: true });
    expect(report.usages).toHaveLength(2);
  });

  it('ends with the first valid StructuredOutput call and asks no more (A-5)', async () => {
    const { outcome, report } = await runOne(under, [{ json: { n: 1 } }, { text: 'never asked for' }], {
      output: numberContract,
    });
    expect(outcome).toMatchObject({ valueJson: '{"n":1}', attempts: 1 });
    expect(report.usages).toHaveLength(1);
  });

  it('wraps a planned answer whose root is no object, once (A-8, C-12)', async () => {
    const plain = await runOne(under, [{ json: [1, 2] }], { output: listContract });
    const wrapped = await runOne(under, [{ json: { value: [1, 2] } }], { output: listContract });
    expect([plain.outcome?.valueJson, wrapped.outcome?.valueJson]).toEqual(['[1,2]', '[1,2]']);
  });

  it('nudges once after a text, then gives up with the last text (A-4, A-5)', async () => {
    const saved = await runOne(under, [{ text: 'prose' }, { json: { n: 2 } }], { output: numberContract });
    expect(saved.outcome).toMatchObject({ valueJson: '{"n":2}', attempts: 1 });
    const lost = await runOne(under, [{ text: 'prose' }, { text: 'LAST' }], { output: numberContract });
    expect(workflowError(lost.error)).toMatchObject({ code: 'AGENT_NO_OUTPUT', data: { lastText: 'LAST' } });
    expect(lost.report.usages).toHaveLength(2);
  });

  it('nudges after an empty message too, although it cannot stand in the history (A-5)', async () => {
    const { outcome } = await runOne(under, [{ text: '' }, { json: { n: 2 } }], { output: numberContract });
    expect(outcome).toMatchObject({ valueJson: '{"n":2}' });
  });

  it('sends invalid calls back until they are used up (A-4, A-10)', async () => {
    const late = await runOne(under, [{ json: { n: 'x' } }, { raw: '{"n":\\|}' }, { json: { n: 3 } }], {
      output: numberContract,
      maxStructuredOutputRetries: 3,
    });
    expect(late.outcome).toMatchObject({ valueJson: '{"n":3}', attempts: 3 });
    const never = await runOne(under, [{ json: { n: 'x' } }], {
      output: numberContract,
      maxStructuredOutputRetries: 3,
    });
    expect(workflowError(never.error)).toMatchObject({
      code: 'AGENT_OUTPUT_INVALID',
      data: { lastText: '{"n":"x"}', validationErrors: ['/n must be a number'] },
    });
    expect(never.report.usages).toHaveLength(3);
  });

  it('takes the last valid call of a message, and still runs its other tools (A-5)', async () => {
    const blocks = [
      { json: { n: 1 } },
      { tool: { name: 'Glob', input: { pattern: '*.none' } } },
      { json: { n: 2 } },
      { json: { bad: true } },
    ];
    const { outcome, report } = await runOne(under, [{ blocks }], { output: numberContract });
    expect(outcome).toMatchObject({ valueJson: '{"n":2}', attempts: 3, toolUses: 1 });
    expect(report.tools).toEqual([expect.objectContaining({ name: 'Glob', ok: true })]);
    expect(report.usages).toHaveLength(1);
  });

  it('tells the model that a call was cut off by the output limit (A-6)', async () => {
    const turns = [{ raw: '{"n": 1', stop: 'max_tokens' }, { json: { n: 1 } }];
    const { outcome, report } = await runOne(under, turns, { output: numberContract });
    expect(outcome?.valueJson).toBe('{"n":1}');
    expect(report.rows).toContainEqual(
      expect.objectContaining({ type: 'tool_result', content: 'cut off by the output limit' }),
    );
  });

  it('has a text continued once that the output limit cut off, and joins the parts', async () => {
    const whole = await runOne(under, [{ text: 'one, two, ', stop: 'max_tokens' }, { text: 'three' }]);
    expect(whole.outcome?.valueJson).toBe('"one, two, three"');
    const cut = await runOne(under, [{ text: 'on ', stop: 'max_tokens' }]);
    expect(cut.outcome?.valueJson).toBe('"on on "');
    expect(cut.report.rows.at(-1)).toMatchObject({ type: 'note', text: expect.stringContaining('cut off') });
  });

  it('ends with AGENT_API when the model refuses', async () => {
    const { error } = await runOne(under, [{ text: 'I would rather not.', stop: 'refusal' }]);
    expect(workflowError(error)).toMatchObject({ code: 'AGENT_API', data: { lastText: 'I would rather not.' } });
    expect(workflowError(error).message).toContain('refused');
  });

  it('runs tools in the working directory and gives their results to the model (A-25)', async () => {
    const cwd = await mkdtemp(path.join(tmpdir(), 'wf-tools-'));
    await writeFile(path.join(cwd, 'note.txt'), 'first\nsecond\n');
    const turns = [{ tool: { name: 'Read', input: { file_path: 'note.txt' } } }, { text: 'done' }];
    const { outcome, report } = await runOne(under, turns, { cwd });
    await rm(cwd, { recursive: true });
    expect(outcome).toMatchObject({ valueJson: '"done"', toolUses: 1 });
    expect(report.rows).toContainEqual(
      expect.objectContaining({ type: 'tool_result', content: '1\tfirst\n2\tsecond' }),
    );
  });

  it('answers a call of a tool that is denied or unknown with an error, and goes on (A-29)', async () => {
    const turns = [{ blocks: [{ tool: { name: 'Read' } }, { tool: { name: 'Launch' } }] }, { text: 'well' }];
    const { outcome, report } = await runOne(under, turns, { options: { disallowedTools: ['Read'] } });
    expect(outcome?.valueJson).toBe('"well"');
    expect(report.tools.map(({ name, ok }) => [name, ok])).toEqual([
      ['Read', false],
      ['Launch', false],
    ]);
  });

  it('stops at maxTurns with the last text (A-1)', async () => {
    const turns = [{ blocks: [{ text: 'still looking' }, { tool: { name: 'Launch' } }] }];
    const { error, report } = await runOne(under, turns, { options: { maxTurns: 3 } });
    expect(workflowError(error)).toMatchObject({ code: 'AGENT_MAX_TURNS', data: { maxTurns: 3 } });
    expect(report.usages).toHaveLength(3);
  });

  it.each([429, 500, 502, 503, 529])('asks to retry after a %i and goes on in the list (A-13)', async (status) => {
    const turns = [{ error: { status, message: 'try later', retryAfterMs: 40 } }, { text: 'at last' }];
    const { outcome, report } = await runOne(under, turns);
    expect(outcome?.valueJson).toBe('"at last"');
    const asked = under.hidesRetryAfter === true ? {} : { retryAfterMs: 40 };
    expect(report.retries).toEqual([{ message: expect.stringContaining('try later'), status, ...asked }]);
  });

  it('asks to retry when the answer is cut off (A-13)', async () => {
    const { outcome, report } = await runOne(under, [{ cut: 'text', text: 'half of it' }, { text: 'whole' }]);
    expect(outcome?.valueJson).toBe('"whole"');
    expect(report.retries).toHaveLength(1);
  });

  it('passes on the rejection of a retry (A-13)', async () => {
    const turns = [{ error: { status: 529, message: 'busy' } }];
    const { error, report, planned } = await runOne(under, turns, {}, new FakeReporter({ maxRetries: 2 }));
    expect(error).toBeInstanceOf(RetriesUsedUp);
    expect(report.retries).toHaveLength(3);
    expect(planned.requests() ?? 3).toBe(3);
  });

  it.each([
    [400, 'AGENT_API'],
    [404, 'AGENT_API'],
    [401, 'AGENT_AUTH'],
    [403, 'AGENT_AUTH'],
    [402, 'AGENT_QUOTA'],
  ])('sends a %i once and ends with %s, in the words of the server (A-3, A-20)', async (status, code) => {
    const { error, report, planned } = await runOne(under, [{ error: { status, message: 'the very words' } }]);
    expect(workflowError(error)).toMatchObject({ code, data: { status } });
    expect(workflowError(error).message).toContain('the very words');
    expect(report.retries).toEqual([]);
    expect(planned.requests() ?? 1).toBe(1);
  });

  it('tells a usage limit from a plain 429, with the time of its reset (A-20)', async () => {
    const message = 'You have reached your usage limit. It resets at 2099-01-01T00:00:00Z.';
    const { error } = await runOne(under, [{ error: { status: 429, message } }]);
    expect(workflowError(error)).toMatchObject({
      code: 'AGENT_QUOTA',
      data: { resetsAt: '2099-01-01T00:00:00.000Z' },
    });
  });

  it('rejects in time when aborted during an answer, and leaves no connection (A-18)', async () => {
    const planned = await start(under, { rules: [{ match: 'SLOW', reply: [{ text: 'late', delayMs: 600_000 }] }] });
    const controller = new AbortController();
    const reason = new WorkflowError('AGENT_TIMED_OUT', 'too slow');
    const running = planned.backend.run(agentRequest('SLOW'), controller.signal, new FakeReporter());
    running.catch(() => {});
    if (planned.requests() === undefined) await settle();
    else await waitUntil(() => planned.open() === 1);
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    await waitUntil(() => planned.open() === 0);
  });

  it('goes on in the list when an aborted agent is run again (A-14, C-12)', async () => {
    const reply = [{ silentMs: 600_000 }, { text: 'second attempt' }];
    const planned = await start(under, { rules: [{ match: 'STALL', times: 1, reply }] });
    const request = agentRequest('STALL');
    const controller = new AbortController();
    const first = planned.backend.run(request, controller.signal, new FakeReporter());
    first.catch(() => {});
    if (planned.requests() === undefined) await settle();
    else await waitUntil(() => planned.open() === 1);
    controller.abort();
    await expect(first).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    await waitUntil(() => planned.open() === 0);
    const second = await planned.backend.run(request, new AbortController().signal, new FakeReporter());
    expect(second.valueJson).toBe('"second attempt"');
  });

  it('knows built-in agent types and names them when one is unknown (A-4, A-28)', async () => {
    const known = await runOne(under, [{ text: 'explored' }], { options: { agentType: 'Explore' } });
    expect(known.outcome?.valueJson).toBe('"explored"');
    const unknown = await runOne(under, [{ text: 'never' }], { options: { agentType: 'no-such-type' } });
    expect(workflowError(unknown.error)).toMatchObject({ code: 'AGENT_TYPE_UNKNOWN' });
    expect(workflowError(unknown.error).message).toContain('Explore');
  });
});
