import { getEventListeners } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import type { CoreEvent } from '../../protocol/core-event.ts';
import { coreEventSchema } from '../../protocol/core-event.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { StartOptions } from '../../runtime/run-options.ts';
import { runWorkflow } from '../../runtime/run-workflow.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';
import { answeringBackend, silence } from '../support/answering-backend.ts';
import { temporaryStore } from '../support/temporary-store.ts';

const store = temporaryStore();
const script = (body: string): string => `export const meta = { name: 'test', description: 'a test' }\n${body}\n`;

function run(body: string, options: Partial<StartOptions> = {}) {
  return runWorkflow({ store, backend: answeringBackend(), script: script(body), ...options });
}

function eventsOf(directory: string): CoreEvent[] {
  const lines = readFileSync(join(directory, 'events.ndjson'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as CoreEvent);
}

describe('a run', () => {
  it('gives the result, keeps it on disk whole and counts its agents (S-28, S-29, A-19)', async () => {
    const ended = await run(`return await parallel([1, 2, 3].map((n) => () => agent('ask ' + n)))`);
    expect(ended.result).toEqual(['ok', 'ok', 'ok']);
    expect(ended.output).toMatchObject({
      status: 'completed',
      census: { agent_count: 3, agents_done: 3, agents_error: 0 },
      usage: { output_tokens: 15, total_tokens: 45 },
    });
    expect(JSON.parse(readFileSync(ended.outputFile, 'utf8'))).toMatchObject({
      status: 'completed',
      result: ['ok', 'ok', 'ok'],
    });
  });

  it('that falls over args it was not given says so, and no other does (C-10)', async () => {
    const hint = expect.objectContaining({ level: 'warn', text: expect.stringMatching(/reads `args`.*--arg /) });
    const { output } = await run('return await agent(args.question)');
    expect(output.logs).toContainEqual(hint);
    expect((await run('return await agent(args.question)', { argsJson: 'null' })).output.logs).not.toContainEqual(hint);
    expect((await run('return null.x')).output.logs).not.toContainEqual(hint);
  });

  it('writes only events of the published shape, numbered without gaps (E-1)', async () => {
    const ended = await run(
      `phase('P'); log('x'); await agent('a', { label: 'A' }); await parallel([() => { throw new Error('b') }]); return 1`,
    );
    const events = eventsOf(join(store.root, 'runs', ended.runId));
    for (const event of events) expect(coreEventSchema.safeParse(event).error?.message).toBeUndefined();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(events[0]?.type).toBe('run.started');
    expect(events.at(-1)?.type).toBe('run.finished');
  });

  it('says with the first event how many agents may run at once and why (A-11)', async () => {
    const ended = await run('return 1', { concurrency: 3 });
    expect(eventsOf(join(store.root, 'runs', ended.runId))[0]?.data).toMatchObject({
      concurrency: { value: 3, source: 'given' },
    });
  });

  it('refuses an invalid script before it makes anything (S-6)', async () => {
    await expect(run('const = 1')).rejects.toMatchObject({ code: 'SCRIPT_SYNTAX', place: { line: 2 } });
  });

  it('shows a thrown error with the line of the author (S-8, S-30)', async () => {
    const ended = await run(
      `const a = await agent('x')\nthrow new RangeError('too far', { cause: new Error('inner') })`,
    );
    expect(ended.output).toMatchObject({ status: 'failed', error: { code: 'SCRIPT_THREW', line: 3 } });
    expect(ended.error?.message).toMatch(/RangeError: too far.*inner/);
  });

  it('keeps what is paid when the script fails, and a mended script resumes for free, told of by a notice (R-8, R-11)', async () => {
    const backend = answeringBackend();
    const failed = await run(
      `const r = await parallel([1, 2].map((n) => () => agent('paid ' + n)))\nreturn r.map((x) => x.no.length)`,
      { backend },
    );
    expect(failed.output.status).toBe('failed');
    const notices: string[] = [];
    const mended = await runWorkflow({
      store,
      backend,
      runId: failed.runId,
      script: script(
        `const r = await parallel([1, 2].map((n) => () => agent('paid ' + n)))\nreturn [...r, await agent('new', { label: 'the new one' })]`,
      ),
      onNotice: (text) => notices.push(text),
    });
    expect(mended.result).toEqual(['ok', 'ok', 'ok']);
    expect(backend.asked).toEqual(['paid 1', 'paid 2', 'new']);
    expect(mended.output.census).toMatchObject({ agents_cached: 2, agents_done: 3 });
    expect(notices.join('\n')).toMatch(/script was edited[\s\S]*the new one/);
  });

  it('uses the stored args unless others are given, and says that they differ (R-11)', async () => {
    const body = `return await agent('about ' + args.q)`;
    const first = await run(body, { argsJson: '{"q":"alpha"}' });
    const backend = answeringBackend();
    const again = await runWorkflow({ store, backend, runId: first.runId });
    expect([again.result, backend.asked]).toEqual(['ok', []]);
    const notices: string[] = [];
    await runWorkflow({
      store,
      backend,
      runId: first.runId,
      argsJson: '{"q":"beta"}',
      onNotice: (text) => notices.push(text),
    });
    expect(backend.asked).toEqual(['about beta']);
    expect(notices.join()).toContain('args differ');
  });

  it('leaves a stored run as it was when the new script does not parse (R-13)', async () => {
    const first = await run(`return await agent('keep')`);
    const journal = join(store.root, 'runs', first.runId, 'journal.jsonl');
    const before = readFileSync(journal, 'utf8');
    await expect(
      runWorkflow({ store, backend: answeringBackend(), runId: first.runId, script: script('const = 1') }),
    ).rejects.toMatchObject({ code: 'SCRIPT_SYNTAX' });
    expect(readFileSync(journal, 'utf8')).toBe(before);
    expect((await runWorkflow({ store, backend: answeringBackend(), runId: first.runId })).result).toBe('ok');
  });

  it('never starts afresh for a run it does not know (R-12)', async () => {
    await expect(runWorkflow({ store, backend: answeringBackend(), runId: 'wf_deadbeef-abc' })).rejects.toMatchObject({
      code: 'REPLAY_RUN_UNKNOWN',
    });
  });

  it('cancels agents nobody waited for when the script ends, and says how many (S-26)', async () => {
    const ended = await run(`agent('slow 1'); agent('slow 2'); return await agent('quick')`, {
      backend: answeringBackend((request, signal) => (request.prompt === 'quick' ? 'done' : silence(request, signal))),
    });
    expect(ended.output.census).toMatchObject({ agents_cancelled: 2, agents_done: 1 });
    expect(ended.output.logs.map(({ text }) => text).join()).toContain('2 agents');
  });

  it('ends as killed when it is stopped, even while the script spins; other runs of the process go on (S-24, R-7)', async () => {
    const spinning = await startWorkflow({
      store,
      backend: answeringBackend(),
      script: script(`await agent('first')\nfor (;;) {}`),
    });
    const other = run(`return await agent('other')`);
    expect((await other).result).toBe('ok');
    spinning.stop('the test asked for it');
    const ended = await spinning.done;
    expect(ended.output).toMatchObject({ status: 'killed', error: { code: 'RUN_CANCELLED' } });
    expect(ended.output.error?.message).toContain('the test asked for it');
  });

  it('ends at its time limit (C-7)', async () => {
    const ended = await run(`return await agent('never')`, {
      backend: answeringBackend(silence),
      limits: { timeoutMs: 60 },
    });
    expect(ended.output).toMatchObject({ status: 'failed', error: { code: 'LIMIT_TIME' }, limits_hit: ['LIMIT_TIME'] });
  });

  it('completes although all its agents died, and fails when asked to (A-3, A-19)', async () => {
    const backend = answeringBackend(() => new WorkflowError('AGENT_API', 'no luck'));
    const body = `return await agent('x')`;
    const completed = await run(body, { backend });
    expect([completed.output.status, completed.result]).toEqual(['completed', null]);
    const failed = await run(body, { backend, failOnAgentError: true });
    expect(failed.output).toMatchObject({ status: 'failed', error: { code: 'AGENTS_FAILED' } });
  });

  it('stops at the first refused key and says how to resume (A-20)', async () => {
    const backend = answeringBackend(() => new WorkflowError('AGENT_AUTH', 'The key is wrong.'));
    const ended = await run(
      `try { await parallel([1, 2, 3].map((n) => () => agent('x' + n))) } catch {} return 'swallowed'`,
      { backend, concurrency: 1 },
    );
    expect(ended.output).toMatchObject({ status: 'failed', error: { code: 'AGENT_AUTH' } });
    expect(ended.error?.message).toContain(`wf resume ${ended.runId}`);
    expect(backend.asked).toHaveLength(1);
  });

  it('lets a script catch a limit and names it at the end (S-13)', async () => {
    const ended = await run(`try { for (;;) await agent('again') } catch (e) { return e.code }`, {
      limits: { maxAgents: 3 },
    });
    expect(ended.result).toBe('LIMIT_AGENT_COUNT');
    expect(ended.output.limits_hit).toEqual(['LIMIT_AGENT_COUNT']);
  });

  it('names the items limit at the end too when the script caught it (S-12, S-13)', async () => {
    const ended = await run(`try { await parallel([1, 2, 3].map((n) => () => n)) } catch (e) { return e.code }`, {
      limits: { maxItems: 2 },
    });
    expect(ended.result).toBe('LIMIT_ITEMS');
    expect(ended.output.limits_hit).toEqual(['LIMIT_ITEMS']);
  });

  it('starts no large fan-out without a yes, and says how large it would be (A-33)', async () => {
    const body = `await agent('first'); return (await parallel([1, 2, 3].map((n) => () => agent('x' + n)))).length`;
    const asked: unknown[] = [];
    const confirmFanOut = (answer: boolean) => (request: unknown) => {
      asked.push(request);
      return answer;
    };
    const backend = answeringBackend();
    const alone = await run(body, { backend, confirmAbove: 2 });
    expect(alone.output).toMatchObject({
      status: 'failed',
      error: { code: 'LIMIT_AGENT_COUNT' },
      limits_hit: ['LIMIT_AGENT_COUNT'],
    });
    expect(backend.asked).toEqual(['first']);
    expect((await run(body, { confirmAbove: 2, confirmFanOut: confirmFanOut(true) })).result).toBe(3);
    expect((await run(body, { confirmAbove: 2, confirmFanOut: confirmFanOut(false) })).output.status).toBe('failed');
    expect((await run(body, { confirmAbove: 3 })).result).toBe(3);
    expect(asked).toEqual([1, 2].map(() => ({ helper: 'parallel', agents: 3, tokens: 45 })));
  });

  it('takes a question that fails for a no, and says so (A-33)', async () => {
    const ended = await run(`return (await parallel([1, 2, 3].map((n) => () => agent('x' + n)))).length`, {
      confirmAbove: 2,
      confirmFanOut: () => Promise.reject(new Error('nobody is there')),
    });
    expect(ended.output).toMatchObject({ status: 'failed', error: { code: 'LIMIT_AGENT_COUNT' } });
    expect(ended.output.logs.map(({ text }) => text).join()).toContain('nobody is there');
  });

  it('lets a result stand that came before the stop (S-33, E-11)', async () => {
    let stop = (): void => {};
    const handle = await startWorkflow({
      store,
      script: script(`agent('left behind'); await agent('first'); return 'done'`),
      backend: answeringBackend((request, signal) => {
        if (request.prompt === 'first') return 'ok';
        signal.addEventListener('abort', () => stop(), { once: true });
        return silence(request, signal);
      }),
    });
    stop = () => handle.stop();
    const ended = await handle.done;
    expect([ended.output.status, ended.resultJson]).toEqual(['completed', '"done"']);
  });

  it('fails after a refused key even if the script returns before the agents in flight have ended (A-20, S-13)', async () => {
    const ended = await run(
      `const late = new Promise((resolve) => setTimeout(resolve, 50))\nawait Promise.race([parallel([() => agent('dead'), () => agent('slow')]), late])\nreturn 'outran'`,
      {
        backend: answeringBackend((request, signal) =>
          request.prompt === 'dead' ? new WorkflowError('AGENT_AUTH', 'The key is wrong.') : silence(request, signal),
        ),
      },
    );
    expect(ended.output).toMatchObject({ status: 'failed', error: { code: 'AGENT_AUTH' } });
    expect(ended.resultJson).toBeUndefined();
  });

  it('leaves nothing on a signal that outlives it (A-18)', async () => {
    const { signal } = new AbortController();
    await run('return 1', { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('runs a nested workflow from a file beside the script (S-18)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wf-nested-'));
    writeFileSync(join(folder, 'child.js'), script(`return [args, await agent('inside')]`));
    const ended = await run(`return await workflow({ scriptPath: 'child.js' }, 7)`, {
      scriptPath: join(folder, 'parent.js'),
    });
    rmSync(folder, { recursive: true });
    expect(ended.result).toEqual([7, 'ok']);
    const queued = eventsOf(join(store.root, 'runs', ended.runId)).find(({ type }) => type === 'agent.queued');
    expect(queued?.data).toMatchObject({ workflow: 'test', phaseTitle: '▸ test' });
  });

  it('lets an unknown saved workflow be caught (S-18)', async () => {
    const ended = await run(`try { await workflow('nosuch') } catch (e) { return e.message }`);
    expect(ended.result).toContain('nosuch');
  });

  it.each([
    ['Zod 4', z.object({ n: z.number().default(7), s: z.string().transform((s) => s.toUpperCase()) })],
    ['Zod 3', z3.object({ n: z3.number().default(7), s: z3.string().transform((s) => s.toUpperCase()) })],
  ])(
    'applies defaults and transforms of a named %s schema and journals the raw answer (A-9)',
    async (_name, schema) => {
      const options = { backend: answeringBackend(() => ({ s: 'abc' })), schemas: { Finding: schema } };
      const first = await run(`return await agent('x', { schema: 'Finding' })`, options);
      expect(first.result).toEqual({ n: 7, s: 'ABC' });
      const journal = readFileSync(join(store.root, 'runs', first.runId, 'journal.jsonl'), 'utf8');
      expect(journal).toContain('"result":{"s":"abc"}');
      const again = await runWorkflow({ store, ...options, runId: first.runId });
      expect([again.result, again.output.census.agents_cached]).toEqual([{ n: 7, s: 'ABC' }, 1]);
    },
  );

  it('refuses a schema name nobody registered with a TypeError (A-8)', async () => {
    const ended = await run(
      `try { await agent('x', { schema: 'Nope' }) } catch (e) { return [e instanceof TypeError, e.message] }`,
    );
    expect(ended.result).toEqual([true, expect.stringContaining('Nope')]);
  });

  it('keeps a secret out of events, logs and output, and whole in the journal (A-32, R-26)', async () => {
    const secret = 'correct-horse-battery';
    const ended = await run(
      `log('it is ' + args); const r = await agent('use ' + args, { label: args }); throw new Error(r)`,
      {
        argsJson: JSON.stringify(secret),
        secrets: [secret],
        backend: answeringBackend(() => `the secret is ${secret}`),
      },
    );
    const directory = join(store.root, 'runs', ended.runId);
    for (const file of ['events.ndjson', 'output.json'])
      expect(readFileSync(join(directory, file), 'utf8')).not.toContain(secret);
    expect(readFileSync(join(directory, 'journal.jsonl'), 'utf8')).toContain(`the secret is ${secret}`);
  });

  it('never lets a reader that throws or hangs hold it up (E-3)', async () => {
    const ended = await run(`return await agent('x')`, {
      sinks: [
        {
          handle: () => {
            throw new Error('broken reader');
          },
        },
        { handle: () => {}, close: () => Promise.reject(new Error('broken at the end')) },
      ],
    });
    expect(ended.output.status).toBe('completed');
  });

  it('writes no transcripts when told so', async () => {
    const ended = await run(`return await agent('x')`, { transcripts: false });
    expect(existsSync(join(store.root, 'runs', ended.runId, 'agents'))).toBe(false);
  });
});
