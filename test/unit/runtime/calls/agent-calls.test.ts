import { describe, expect, it } from 'vitest';
import { WorkflowError } from '../../../../protocol/workflow-error.ts';
import { AgentCalls, type AgentCallsOptions } from '../../../../runtime/calls/agent-calls.ts';
import { agentIdOf, callKey } from '../../../../runtime/calls/call-key.ts';
import { NO_NAMED_SCHEMAS } from '../../../../runtime/calls/named-schemas.ts';
import { Slots } from '../../../../runtime/calls/slots.ts';
import { StallWatch } from '../../../../runtime/calls/stall-watch.ts';
import { Phases } from '../../../../runtime/phases.ts';
import type { AgentBackend, AgentOutcome, AgentReporter, AgentRequest } from '../../../../runtime/ports.ts';
import { createRedactor } from '../../../../runtime/redact.ts';
import { ReplayIndex } from '../../../../runtime/replay/replay-index.ts';
import { DEFAULT_LIMITS, type RunLimits } from '../../../../runtime/run-options.ts';
import type { SandboxAnswer } from '../../../../runtime/sandbox/sandbox.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { fakeRunDirectory } from '../../../support/fake-run-directory.ts';

type Work = (request: AgentRequest, signal: AbortSignal, report: AgentReporter) => Promise<AgentOutcome>;

const say = (text: string, outputTokens = 10): AgentOutcome => ({
  valueJson: JSON.stringify(text),
  empty: text === '',
  usage: { inputTokens: 5, outputTokens },
  toolUses: 0,
  attempts: 0,
});

const untilAborted: Work = (_request, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

function setUp(work: Work, limits: Partial<RunLimits> = {}, concurrency = 16, more: Partial<AgentCallsOptions> = {}) {
  const clock = new FakeClock();
  const directory = fakeRunDirectory(clock);
  const answers = new Map<number, SandboxAnswer>();
  const logs: string[] = [];
  const broken: WorkflowError[] = [];
  const limitsHit: string[] = [];
  let requests = 0;
  const backend: AgentBackend = {
    name: 'fake',
    defaultConcurrency: 16,
    canRejoin: false,
    simulated: false,
    model: undefined,
    run: (request, signal, report) => {
      requests += 1;
      return work(request, signal, report);
    },
    close: async () => {},
  };
  const allLimits = { ...DEFAULT_LIMITS, ...limits };
  const options: AgentCallsOptions = {
    backend,
    directory,
    events: directory.events,
    slots: new Slots(concurrency),
    stallWatch: new StallWatch(clock),
    clock,
    random: () => 0,
    redactor: createRedactor([]),
    maxRetries: allLimits.maxRetries,
    transcripts: false,
    warned: new Set(),
    limits: allLimits,
    replay: new ReplayIndex(),
    phases: new Phases([], directory.events),
    schemas: NO_NAMED_SCHEMAS,
    cwd: '/nowhere',
    answer: (id, answer) => answers.set(id, answer),
    log: (_level, text) => logs.push(text),
    onLimit: (error) => limitsHit.push(error.code),
    onBroken: (error) => broken.push(error),
    onFatal: (error) => {
      throw error;
    },
    ...more,
  };
  const calls = new AgentCalls(options);
  let id = 0;
  const call = (prompt: string, opts?: object): number => {
    id += 1;
    const optsJson = opts === undefined ? undefined : JSON.stringify(opts);
    calls.handle({ id, prompt, optsJson, scope: '', phase: null, workflow: null });
    return id;
  };
  return { call, calls, answers, broken, clock, directory, limitsHit, logs, requests: () => requests };
}

const codeOf = (answer: SandboxAnswer | undefined): string | undefined =>
  answer?.ok === false ? answer.error.code : undefined;

describe('AgentCalls', () => {
  it('answers with the value once it is in the journal (R-5)', async () => {
    const { call, answers, directory } = setUp(async () => say('fine'));
    const id = call('one');
    expect(answers.has(id)).toBe(false);
    await settle();
    expect(answers.get(id)).toEqual({ ok: true, valueJson: '"fine"' });
    expect(directory.rows.map((row) => row['type'])).toEqual(['started', 'result']);
  });

  it('answers null for an agent that died, and says why in log and journal (A-3)', async () => {
    const { call, answers, logs, directory } = setUp(async () => {
      throw new WorkflowError('AGENT_API', 'the server broke');
    });
    const id = call('one');
    await settle();
    expect(answers.get(id)).toEqual({ ok: true, valueJson: 'null' });
    expect(logs.join()).toContain('the server broke');
    expect(directory.rows.at(-1)).toMatchObject({ type: 'failed', error: { code: 'AGENT_API' } });
  });

  it('rejects the call for failures that are no API error (A-4)', async () => {
    const { call, answers } = setUp(async () => {
      throw new WorkflowError('AGENT_NO_OUTPUT', 'never called', { data: { lastText: 'prose' } });
    });
    const id = call('one');
    await settle();
    expect(answers.get(id)).toMatchObject({
      ok: false,
      error: { code: 'AGENT_NO_OUTPUT', data: { lastText: 'prose' } },
    });
  });

  it('refuses wrong options with a TypeError before anything is spent (A-1)', async () => {
    const { call, answers, requests } = setUp(async () => say('fine'));
    const ids = [
      { model: 5 },
      { tools: 'Read' },
      { maxTurns: 0 },
      { timeoutMs: -1 },
      { schema: 7 },
      { agentType: {} },
    ].map((opts) => call('one', opts));
    await settle();
    for (const id of ids) expect(answers.get(id)).toMatchObject({ ok: false, error: { name: 'TypeError' } });
    expect(requests()).toBe(0);
  });

  it('warns once about unknown options and words and goes on (A-1)', async () => {
    const { call, logs, requests } = setUp(async () => say('fine'));
    call('one', { bogus: 1, effort: 'zealous' });
    call('two', { bogus: 2, isolation: 'moon' });
    await settle();
    expect(logs).toHaveLength(3);
    expect(requests()).toBe(2);
  });

  it('waits as long as the server asks and then tries again, at most maxRetries times (A-13)', async () => {
    const { call, answers, clock, directory } = setUp(
      async (_request, _signal, report) => {
        for (;;) await report.retry({ message: 'overloaded', status: 529, retryAfterMs: 1000 });
      },
      { maxRetries: 2 },
    );
    const id = call('one');
    await clock.advance(999);
    expect(directory.eventsOf('agent.retrying')).toHaveLength(1);
    await clock.advance(1);
    expect(directory.eventsOf('agent.retrying')).toHaveLength(2);
    await clock.advance(1000);
    expect(answers.get(id)).toEqual({ ok: true, valueJson: 'null' });
    expect(directory.eventsOf('agent.retrying')).toHaveLength(2);
  });

  it('holds no slot while it waits to try again (A-11)', async () => {
    let first = true;
    const { call, answers, clock } = setUp(
      async (request, _signal, report) => {
        if (request.prompt === 'flaky' && first) {
          first = false;
          await report.retry({ message: 'overloaded', status: 529, retryAfterMs: 1000 });
        }
        return say(request.prompt);
      },
      {},
      1,
    );
    const flaky = call('flaky');
    const steady = call('steady');
    await clock.advance(10);
    expect(answers.has(steady)).toBe(true);
    expect(answers.has(flaky)).toBe(false);
    await clock.advance(1000);
    expect(answers.has(flaky)).toBe(true);
  });

  it('sends nothing more after a 401 and tells when those in flight have ended (A-20)', async () => {
    const { call, calls, broken, requests, clock } = setUp(
      async (request, _signal, report) => {
        if (request.prompt === 'waits') await report.retry({ message: 'busy', status: 529, retryAfterMs: 50 });
        throw new WorkflowError('AGENT_AUTH', 'invalid key');
      },
      {},
      2,
    );
    call('waits');
    for (let i = 0; i < 10; i++) call(`auth ${i}`);
    await clock.advance(1000);
    expect(broken.map((error) => error.code)).toEqual(['AGENT_AUTH']);
    expect(requests()).toBeLessThanOrEqual(3);
    call('later');
    await settle();
    expect(requests()).toBeLessThanOrEqual(3);
    await calls.close(new WorkflowError('RUN_CANCELLED', 'over'));
    expect(calls.openCount).toBe(0);
  });

  it('is closed once the answers that came are kept and told of, so that the census counts them (A-19, R-5)', async () => {
    const { promise, resolve } = Promise.withResolvers<AgentOutcome>();
    const { call, calls, directory } = setUp(() => promise);
    call('one');
    resolve(say('fine'));
    while (calls.openCount > 0) await Promise.resolve();
    await calls.close(new WorkflowError('RUN_CANCELLED', 'over'));
    expect(directory.eventsOf('agent.finished')).toMatchObject([{ data: { state: 'done' } }]);
  });

  it('takes a wait of hours for a quota and stops (A-20)', async () => {
    const { call, broken } = setUp(async (_request, _signal, report) => {
      await report.retry({ message: 'usage limit', status: 429, retryAfterMs: 18_000_000 });
      return say('never');
    });
    call('one');
    await settle();
    expect(broken[0]?.code).toBe('AGENT_QUOTA');
  });

  it('refuses the agent above the cap with an error that passes through helpers (A-12, S-13)', async () => {
    const { call, answers, limitsHit } = setUp(async () => say('fine'), { maxAgents: 2 });
    const ids = ['a', 'b', 'c'].map((prompt) => call(prompt));
    await settle();
    expect(answers.get(ids[2] as number)).toMatchObject({
      ok: false,
      error: { code: 'LIMIT_AGENT_COUNT', passesThrough: true },
    });
    expect(limitsHit).toEqual(['LIMIT_AGENT_COUNT']);
  });

  it('refuses the call after the budget is spent (A-16)', async () => {
    const { call, answers } = setUp(async () => say('fine', 60), { budget: 100 });
    for (const prompt of ['a', 'b']) {
      call(prompt);
      await settle();
    }
    const third = call('c');
    expect(codeOf(answers.get(third))).toBe('LIMIT_BUDGET');
  });

  it('lets no agent begin that still waits for a slot, or in a lane, when the budget is spent (A-16)', async () => {
    const lanes = new Map([['heavy', new Slots(1)]]);
    const { call, calls, answers, directory, limitsHit, requests } = setUp(
      async () => say('fine', 60),
      { budget: 100 },
      2,
      { lanes },
    );
    const ids = ['a', 'b', 'c', 'd'].map((prompt) => call(prompt));
    const heavy = call('e', { lane: 'heavy' });
    await settle();
    expect(requests()).toBe(3);
    expect([...ids, heavy].map((id) => codeOf(answers.get(id)))).toEqual([
      undefined,
      undefined,
      undefined,
      'LIMIT_BUDGET',
      'LIMIT_BUDGET',
    ]);
    expect(answers.get(heavy)).toMatchObject({ error: { passesThrough: true } });
    expect([calls.openCount, calls.cancelledCount, calls.failedCount, limitsHit.length]).toEqual([0, 0, 0, 2]);
    expect(directory.rows.filter(({ type }) => type === 'started')).toHaveLength(3);
  });

  it.each([Number.POSITIVE_INFINITY, Number.NaN, -50, 0.5, '12', null, undefined])(
    'counts %s as no tokens, so that a broken usage spoils no sum (A-16)',
    async (told) => {
      const usage = { inputTokens: told as number, outputTokens: told as number };
      const { call, calls, answers, directory } = setUp(async (_request, _signal, report) => {
        report.usage(usage);
        return { ...say('fine'), usage };
      });
      const id = call('one');
      await settle();
      expect(answers.get(id)).toEqual({ ok: true, valueJson: '"fine"' });
      expect(calls.spent).toBe(0);
      expect(directory.rows.at(-1)).toMatchObject({ usage: { input_tokens: 0, output_tokens: 0 } });
    },
  );

  it('ends an agent at timeoutMs with an error that can be caught (A-4)', async () => {
    const { call, answers, clock } = setUp(untilAborted);
    const id = call('slow', { timeoutMs: 400 });
    await clock.advance(399);
    expect(answers.has(id)).toBe(false);
    await clock.advance(1);
    expect(codeOf(answers.get(id))).toBe('AGENT_TIMED_OUT');
    expect(clock.pending).toBe(1); // the tick of the stall watch alone
  });

  it('tries a silent attempt again twice and then gives null (A-14, A-15)', async () => {
    const attempts: (number | undefined)[] = [];
    const { call, answers, clock, directory } = setUp((request, signal, report) => {
      attempts.push(request.attempt);
      return untilAborted(request, signal, report);
    });
    const id = call('silent', { stallMs: 1000 });
    await clock.advance(10_000);
    expect(attempts).toEqual([undefined, 2, 3]);
    expect(answers.get(id)).toEqual({ ok: true, valueJson: 'null' });
    expect(directory.rows.at(-1)).toMatchObject({ type: 'failed', error: { code: 'AGENT_STALLED' } });
  });

  it('takes bytes, running tools and waits for signs of life (A-14)', async () => {
    let report: AgentReporter | undefined;
    const { call, answers, clock } = setUp((request, signal, reporter) => {
      report = reporter;
      return untilAborted(request, signal, reporter);
    });
    const id = call('busy', { stallMs: 1000 });
    for (let i = 0; i < 5; i++) {
      await clock.advance(900);
      report?.alive();
    }
    report?.toolStarted('t1', 'Bash');
    await clock.advance(60_000);
    report?.toolFinished('t1', true);
    await clock.advance(900);
    expect(answers.has(id)).toBe(false);
  });

  it('cancels queued and running agents at the end of the run and counts them (A-18)', async () => {
    const { call, calls, answers, directory } = setUp(untilAborted, {}, 1);
    call('running');
    call('queued');
    await settle();
    await calls.close(new WorkflowError('RUN_CANCELLED', 'over'));
    const ends = directory.eventsOf('agent.finished').map((event) => (event.data as { state: string }).state);
    expect(ends).toEqual(['cancelled', 'cancelled']);
    expect(answers.size).toBe(0);
    expect(directory.rows.filter((row) => row['type'] !== 'started')).toEqual([]);
  });

  it('bounds a lane below the cap and lets other calls pass it (A-17)', async () => {
    let heavy = 0;
    let peak = 0;
    const { call, answers, clock } = setUp(
      async (request, _signal, report) => {
        if (!request.prompt.startsWith('heavy')) return say('light');
        peak = Math.max(peak, ++heavy);
        await report.retry({ message: 'busy', status: 529, retryAfterMs: 100 });
        heavy -= 1;
        return say('heavy');
      },
      {},
      4,
      { lanes: new Map([['heavy', new Slots(1)]]) },
    );
    for (let i = 0; i < 4; i++) call(`heavy ${i}`, { lane: 'heavy' });
    const light = [0, 1, 2].map((i) => call(`light ${i}`));
    await settle();
    for (const id of light) expect(answers.has(id)).toBe(true);
    await clock.advance(1000);
    expect([answers.size, peak]).toEqual([7, 1]);
  });

  it('lets a policy deny a call with a reason, before anything is spent (A-34)', async () => {
    const { call, answers, requests } = setUp(async () => say('fine'), {}, 16, {
      policy: ({ prompt }) => (prompt === 'bad' ? { action: 'deny', reason: 'not this one' } : { action: 'allow' }),
    });
    const bad = call('bad');
    const good = call('good');
    await settle();
    expect(answers.get(bad)).toMatchObject({
      ok: false,
      error: { code: 'AGENT_DENIED', message: expect.stringContaining('not this one') },
    });
    expect([answers.get(good)?.ok, requests()]).toEqual([true, 1]);
  });

  it('lets a policy change the model without changing the key (A-34)', async () => {
    const seen: AgentRequest[] = [];
    const work: Work = async (request) => {
      seen.push(request);
      return say('fine');
    };
    const cheap = setUp(work, {}, 16, { policy: async () => ({ action: 'allow', change: { model: 'haiku' } }) });
    cheap.call('same', { model: 'opus' });
    await settle();
    const plain = setUp(work);
    plain.call('same', { model: 'opus' });
    await settle();
    expect(seen.map(({ options }) => options.model)).toEqual(['haiku', 'opus']);
    expect(seen[0]?.key).toBe(seen[1]?.key);
  });

  it('denies when the policy itself throws (A-34)', async () => {
    const { call, answers } = setUp(async () => say('fine'), {}, 16, {
      policy: () => {
        throw new Error('no idea');
      },
    });
    const id = call('any');
    await settle();
    expect(answers.get(id)).toMatchObject({ ok: false, error: { code: 'AGENT_DENIED' } });
  });

  it('rejects a call that asks for a worktree, since none can be made (A-4)', async () => {
    const { call, answers, requests } = setUp(async () => say('fine'));
    const id = call('one', { isolation: 'worktree' });
    await settle();
    expect(answers.get(id)).toMatchObject({ ok: false, error: { code: 'AGENT_ISOLATION' } });
    expect(requests()).toBe(0);
  });

  it('tells the backend which work an earlier launch left in flight, and under which key (R-16)', async () => {
    const seen: AgentRequest[] = [];
    const key = callKey('in flight', '{}', 0);
    const row = {
      type: 'started' as const,
      key,
      agentId: agentIdOf(key),
      scope: '',
      label: 'x',
      phase: null,
      attempt: 1,
      at: 0,
    };
    const { call } = setUp(
      async (request) => {
        seen.push(request);
        return say('fine');
      },
      {},
      16,
      { replay: new ReplayIndex([{ row }]) },
    );
    call('in flight');
    call('new');
    await settle();
    expect(seen.map(({ startedBefore }) => startedBefore)).toEqual([true, undefined]);
    expect(seen[0]?.key).toBe(key);
  });
});
