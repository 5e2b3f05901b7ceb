import { describe, expect, it } from 'vitest';
import { WorkflowError } from '../../../../protocol/workflow-error.ts';
import { AgentCalls } from '../../../../runtime/calls/agent-calls.ts';
import { NO_NAMED_SCHEMAS } from '../../../../runtime/calls/named-schemas.ts';
import { Slots } from '../../../../runtime/calls/slots.ts';
import { StallWatch } from '../../../../runtime/calls/stall-watch.ts';
import { Phases } from '../../../../runtime/phases.ts';
import type { AgentBackend, AgentOutcome, SharedResult, SharedResults } from '../../../../runtime/ports.ts';
import { createRedactor } from '../../../../runtime/redact.ts';
import type { ImportedCall } from '../../../../runtime/replay/imported-results.ts';
import { ReplayIndex } from '../../../../runtime/replay/replay-index.ts';
import { Reuse } from '../../../../runtime/replay/reuse.ts';
import { DEFAULT_LIMITS } from '../../../../runtime/run-options.ts';
import type { SandboxAnswer } from '../../../../runtime/sandbox/sandbox.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { fakeRunDirectory } from '../../../support/fake-run-directory.ts';

interface Setting {
  readonly shared?: SharedResults;
  readonly imported?: readonly ImportedCall[];
  readonly answer?: Partial<AgentOutcome>;
  readonly backend?: Partial<AgentBackend>;
  readonly cwd?: string;
  readonly secrets?: readonly string[];
}

/** One launch of a run that reuses; launches share what they are given as `shared`. */
function launch({ shared, imported, answer, backend: about, cwd = '/project', secrets = [] }: Setting) {
  const clock = new FakeClock();
  const directory = fakeRunDirectory(clock);
  const answers = new Map<number, SandboxAnswer>();
  const asked: string[] = [];
  const logs: string[] = [];
  const backend: AgentBackend = {
    name: 'fake',
    defaultConcurrency: 1,
    canRejoin: false,
    simulated: false,
    model: 'haiku',
    run: async ({ prompt }) => {
      asked.push(prompt);
      const valueJson = JSON.stringify(`fresh ${prompt}`);
      const usage = { inputTokens: 5, outputTokens: 10 };
      return { valueJson, empty: false, usage, toolUses: 0, attempts: 0, ...answer };
    },
    close: async () => {},
    ...about,
  };
  const redactor = createRedactor(secrets);
  const log = (_level: string, text: string) => void logs.push(text);
  const reuse = new Reuse({ sharedResults: shared, importedCalls: imported, backend, redactor, cwd, log });
  const calls = new AgentCalls({
    backend,
    directory,
    events: directory.events,
    slots: new Slots(1),
    stallWatch: new StallWatch(clock),
    clock,
    random: () => 0,
    redactor,
    maxRetries: 0,
    transcripts: false,
    warned: new Set(),
    limits: DEFAULT_LIMITS,
    replay: new ReplayIndex(),
    phases: new Phases([], directory.events),
    schemas: NO_NAMED_SCHEMAS,
    cwd,
    reuse,
    answer: (id, given) => answers.set(id, given),
    log,
    onLimit: () => {},
    onBroken: () => {},
    onFatal: (error) => {
      throw error;
    },
  });
  let id = 0;
  const call = (prompt: string, opts?: object): void => {
    id += 1;
    const optsJson = opts === undefined ? undefined : JSON.stringify(opts);
    calls.handle({ id, prompt, optsJson, scope: '', phase: null, workflow: null });
  };
  const values = (): unknown[] =>
    Array.from({ length: id }, (_, at) => {
      const given = answers.get(at + 1);
      return given?.ok === true ? JSON.parse(given.valueJson) : given;
    });
  const sources = (): unknown[] => directory.eventsOf('agent.cached').map(({ data }) => (data as Data).source);
  return { call, calls, reuse, values, asked, logs, directory, sources };
}

type Data = { readonly source?: string };

/** Runs the calls of one launch to their ends. */
async function runOne(setting: Setting, ...prompts: readonly (string | readonly [string, object])[]) {
  const run = launch(setting);
  for (const one of prompts) typeof one === 'string' ? run.call(one) : run.call(...one);
  await settle();
  await run.reuse.settled();
  return run;
}

function memoryStore(): SharedResults & { readonly kept: Map<string, SharedResult> } {
  const kept = new Map<string, SharedResult>();
  return { kept, get: async (id) => kept.get(id), put: async (id, result) => void kept.set(id, result) };
}

describe('results shared between runs', () => {
  it('a later run takes them without asking the backend, as cached and for no tokens (R-19)', async () => {
    const shared = memoryStore();
    expect((await runOne({ shared }, 'one', 'two')).asked).toEqual(['one', 'two']);
    const later = await runOne({ shared }, 'two', 'three');
    expect(later.asked).toEqual(['three']);
    expect(later.values()).toEqual(['fresh two', 'fresh three']);
    expect(later.sources()).toEqual(['shared']);
    expect(later.calls.spent).toBe(10);
  });

  it('become results of the run that took them, before the script has the value (R-19, R-5)', async () => {
    const shared = memoryStore();
    await runOne({ shared }, 'one');
    const later = launch({ shared });
    const disk = Promise.withResolvers<void>();
    Object.assign(later.directory.journal, { durable: () => disk.promise });
    later.call('one');
    expect(later.calls.openCount).toBe(1);
    await settle();
    expect([later.values(), later.sources()]).toEqual([[undefined], []]);
    disk.resolve();
    await settle();
    expect(later.values()).toEqual(['fresh one']);
    expect(later.directory.rows).toMatchObject([
      { type: 'result', result: 'fresh one', source: 'shared', usage: { output_tokens: 0 } },
    ]);
    expect(later.calls.openCount).toBe(0);
  });

  it('are those of the same backend and the same model only (R-19)', async () => {
    const shared = memoryStore();
    await runOne({ shared }, 'one');
    expect((await runOne({ shared, backend: { name: 'other' } }, 'one')).asked).toEqual(['one']);
    expect((await runOne({ shared, backend: { model: 'opus' } }, 'one')).asked).toEqual(['one']);
    expect((await runOne({ shared }, 'one')).asked).toEqual([]);
  });

  it('keep calls of the same content apart (R-19, R-1)', async () => {
    const shared = memoryStore();
    await runOne({ shared, answer: { valueJson: '"first"' } }, 'one');
    const later = await runOne({ shared, answer: { valueJson: '"second"' } }, 'one', 'one');
    expect(later.values()).toEqual(['first', 'second']);
    expect((await runOne({ shared }, 'one', 'one')).values()).toEqual(['first', 'second']);
  });

  it.each([
    ['an agent that used tools', {}, { toolUses: 1 }],
    ['an agent of a type that the project defines', { agentType: 'reviewer' }, {}],
  ])('stay within the working directory for %s (R-19)', async (_what, opts, answer) => {
    const shared = memoryStore();
    await runOne({ shared, answer }, ['one', opts]);
    expect((await runOne({ shared, answer, cwd: '/elsewhere' }, ['one', opts])).asked).toEqual(['one']);
    expect((await runOne({ shared, answer }, ['one', opts])).asked).toEqual([]);
  });

  it.each([
    ['null', {}, { valueJson: 'null' }],
    ['an empty text', {}, { valueJson: '""', empty: true }],
    ['an answer that holds a secret', {}, { valueJson: '{"log":["the key is hunter2-hunter2"]}' }],
    ['the answer of an agent with a working copy of its own', { isolation: 'worktree' }, {}],
  ])('are never %s (R-19, R-10, A-32)', async (_what, opts, answer) => {
    const shared = memoryStore();
    await runOne({ shared, answer, secrets: ['hunter2-hunter2'] }, ['one', opts]);
    expect(shared.kept.size).toBe(0);
  });

  it('of a failed agent there are none (R-19, R-10)', async () => {
    const shared = memoryStore();
    const run = async () => {
      throw new WorkflowError('AGENT_NO_OUTPUT', 'never called');
    };
    await runOne({ shared, backend: { run } }, 'one');
    expect(shared.kept.size).toBe(0);
  });

  it('that do not fit the schema of the call are not taken (R-15, R-19)', async () => {
    const shared = memoryStore();
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    await runOne({ shared, answer: { valueJson: '{"n":1}' } }, ['one', { schema }]);
    for (const id of shared.kept.keys()) shared.kept.set(id, { valueJson: '{"n":"many"}', attempts: 1 });
    const later = await runOne({ shared, answer: { valueJson: '{"n":2}' } }, ['one', { schema }]);
    expect(later.values()).toEqual([{ n: 2 }]);
  });

  it('a store that cannot be written is said once and stops nothing (R-19)', async () => {
    const put = () => Promise.reject(new Error('the disk is full'));
    const run = await runOne({ shared: { ...memoryStore(), put } }, 'one', 'two');
    expect(run.values()).toEqual(['fresh one', 'fresh two']);
    expect(run.logs.filter((text) => text.includes('the disk is full'))).toHaveLength(1);
  });

  it('calls go on in their order, however long each look-up takes (R-19)', async () => {
    const waiting: (() => void)[] = [];
    const get = () => new Promise<undefined>((resolve) => waiting.push(() => resolve(undefined)));
    const run = launch({ shared: { ...memoryStore(), get } });
    for (const prompt of ['one', 'two', 'three']) run.call(prompt);
    while (waiting.length > 0) {
      waiting.pop()?.();
      await settle();
    }
    expect(run.asked).toEqual(['one', 'two', 'three']);
  });

  it('the end of a run waits for no look-up, and starts nothing after it (R-19, A-18)', async () => {
    let found = (_result: SharedResult): void => {};
    const get = () => new Promise<SharedResult>((resolve) => (found = resolve));
    const run = launch({ shared: { ...memoryStore(), get } });
    run.call('one');
    await run.calls.close(new WorkflowError('RUN_CANCELLED', 'over'));
    found({ valueJson: '"late"', attempts: 0 });
    await settle();
    expect([run.asked, run.values(), run.directory.rows, run.directory.log]).toEqual([[], [undefined], [], []]);
  });
});

describe('imported results', () => {
  const recorded = (...texts: (string | null)[]): ImportedCall[] =>
    texts.map((text) => (text === null ? {} : { resultJson: JSON.stringify(text) }));

  it('the n-th call takes the n-th answer; one without, and those beyond, run (R-20)', async () => {
    const run = await runOne({ imported: recorded('a', null, 'c') }, 'one', 'two', 'three', 'four');
    expect(run.values()).toEqual(['a', 'fresh two', 'c', 'fresh four']);
    expect(run.sources()).toEqual(['imported', 'imported']);
    run.reuse.report();
    expect(run.logs.join()).toContain('2 of 2 imported answers were used');
  });

  it('an answer of another shape than the call wants is not taken (R-20, R-15)', async () => {
    const imported = [{ resultJson: '{"n":1}' }, { resultJson: '"text"' }];
    const schema = { type: 'object', properties: { n: { type: 'integer' } } };
    const run = await runOne({ imported, answer: { valueJson: '{"n":2}' } }, 'text wanted', [
      'object wanted',
      { schema },
    ]);
    expect(run.asked).toEqual(['text wanted', 'object wanted']);
    run.reuse.report();
    expect(run.logs.join()).toContain('0 of 2 imported answers were used');
  });

  it('are not left for other runs (R-20)', async () => {
    const shared = memoryStore();
    await runOne({ shared, imported: recorded('a') }, 'one');
    expect(shared.kept.size).toBe(0);
  });
});
