import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ConnectedAgent, work } from '../support/connected-agent.ts';
import {
  type Connected,
  descendantsOf,
  isAlive,
  type McpPlace,
  makeMcpPlace,
  type PendingStep,
  ROOT,
  script,
} from '../support/mcp-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const places: McpPlace[] = [];
afterEach(async () => {
  await Promise.all(places.splice(0).map((place) => place.remove()));
});

function place(): McpPlace {
  const made = makeMcpPlace();
  places.push(made);
  return made;
}

const handTo = (server: Connected, runId: string) => (step: PendingStep, result: unknown) =>
  server.host('wf_continue', { runId, stepId: step.stepId, result });

const success = (output: unknown) => ({ status: 'success', output });

describe('a run whose agents the connected agent does', () => {
  it('is a tournament of 21 agents, one step at a time, with wrong answers and a server killed half way (H-12, H-13, H-14, H-15, H-16, A-27)', async () => {
    const here = place();
    const agent = new ConnectedAgent();
    const first = await here.connect();
    const begun = await first.host('wf_start', { scriptPath: join(ROOT, 'examples/08-board-game-tournament.js') });
    const { runId } = begun;
    expect(begun).toMatchObject({ status: 'awaiting_agent', logs: [] });
    const half = await work(agent, begun, handTo(first, runId), 12);
    const [pending] = half.pending;
    await first.kill();

    const second = await here.connect();
    const after = await second.host('wf_status', { runId });
    expect(after.pending).toEqual([pending]);
    const end = await work(agent, after, handTo(second, runId));
    expect(end).toMatchObject({ status: 'completed', result: { winner: expect.stringMatching(/^The game of/) } });
    expect(agent.asked).toHaveLength(21);
    expect(new Set(agent.asked).size).toBe(21);
    expect(agent.errors).toBeGreaterThanOrEqual(4);
    const journal = readFileSync(join(here.state, 'runs', runId, 'journal.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(journal.filter((row) => row.includes('"type":"result"'))).toHaveLength(21);
  });

  it('takes the last answer again after the server died before it could say so (H-15, H-16)', async () => {
    const here = place();
    const first = await here.connect();
    const { runId, pending } = await first.host('wf_start', { script: script(`return await agent('only')`) });
    const last = { runId, stepId: pending[0]?.stepId ?? '', result: success('done') };
    await first.host('wf_continue', last);
    await first.kill();

    const second = await here.connect();
    expect(await second.host('wf_continue', last)).toMatchObject({ status: 'completed', result: 'done' });
    await expect(second.host('wf_continue', { ...last, result: success('other') })).rejects.toThrow(/STEP_ENDED/);
  });

  it('hands out steps in call order, as many as are wanted, each with all that its work takes (H-12, H-15)', async () => {
    const server = await place().connect();
    const text = script(`
      log('begun')
      const all = await Promise.all(['a', 'b', 'c', 'd'].map((name) => agent('do ' + name, { label: name, phase: 'Work' })))
      return all.join()`);
    const begun = await server.host('wf_start', { script: text, maxPending: 3 });
    expect(begun.pending.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(begun.logs).toEqual(['begun']);
    expect(begun.pending[0]).toEqual({
      stepId: expect.stringMatching(/^a[0-9a-f]{16}\.wf_/),
      agentKey: expect.stringMatching(/^v1:[0-9a-f]{64}$/),
      name: 'a',
      phase: 'Work',
      instruction: 'do a',
      attempt: 1,
      contract: expect.stringContaining('wf_continue'),
    });
    const hand = handTo(server, begun.runId);
    const next = await hand(begun.pending[1] as PendingStep, success('B'));
    expect(next.pending.map(({ name }) => name)).toEqual(['a', 'c', 'd']);
    for (const step of next.pending) await hand(step, success(step.name.toUpperCase()));
    const end = await server.host('wf_status', { runId: begun.runId });
    expect(end).toMatchObject({ status: 'completed', result: 'A,B,C,D', pending: [] });
  });

  it('keeps a step pending whose answer does not fit, counts it, and names each place; then the call fails (H-14, A-4)', async () => {
    const server = await place().connect();
    const text = script(`
      const schema = { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } }
      try { return await agent('numbers', { schema }) } catch (error) { return { code: error.code, last: error.lastText } }`);
    let state = await server.host('wf_start', { script: text });
    const hand = handTo(server, state.runId);
    const [step] = state.pending as [PendingStep];
    expect(step.outputSchema).toMatchObject({ type: 'array' });
    state = await hand(step, success([{ n: 'many' }, {}]));
    expect(state.pending).toEqual([{ ...step, attempt: 2 }]);
    expect(state.rejected?.errors).toEqual([
      expect.stringMatching(/^output\[0\]\.n: must be an integer/),
      expect.stringMatching(/^output\[1\]: .*"n" is missing/),
    ]);
    expect((await hand(step, { status: 'success' })).rejected?.errors).toEqual([
      expect.stringMatching(/^output: is missing/),
    ]);
    for (const wrong of [1, 2]) state = await hand(step, success(wrong));
    expect(state.pending[0]?.attempt).toBe(5);
    const end = await hand(step, success('five'));
    expect(end).toMatchObject({
      status: 'completed',
      result: { code: 'AGENT_OUTPUT_INVALID', last: '"five"' },
      rejected: { usedUp: true },
    });
  });

  it('takes a summary for a text, makes null of what failed or was skipped, and counts both apart (H-14, A-3)', async () => {
    const here = place();
    const server = await here.connect();
    const begun = await server.host('wf_start', {
      script: script(`return [await agent('one'), await agent('two'), await agent('three'), await agent('four')]`),
    });
    const hand = handTo(server, begun.runId);
    let [step] = begun.pending as [PendingStep];
    const results = [
      { status: 'success', summary: 'in short' },
      { status: 'failed', summary: 'no network' },
      { status: 'skipped' },
      success({ not: 'a text' }),
    ];
    let state = begun;
    for (const result of results) {
      [step] = state.pending as [PendingStep];
      state = await hand(step, result);
    }
    expect(state.result).toEqual(['in short', null, null, '{"not":"a text"}']);
    const output = JSON.parse(readFileSync(join(here.state, 'runs', begun.runId, 'output.json'), 'utf8'));
    expect(output.census).toMatchObject({ agents_done: 2, agents_error: 1, agents_skipped: 1 });
    expect(output.failures).toEqual([
      { label: 'two', code: 'AGENT_GAVE_UP', message: expect.stringContaining('no network') },
    ]);
  });

  it('asks nothing twice that was skipped or handed in before the server died (H-16)', async () => {
    const here = place();
    const first = await here.connect();
    const begun = await first.host('wf_start', {
      maxPending: 2,
      script: script(`return Promise.all(['a', 'b', 'c', 'd'].map((name) => agent(name)))`),
    });
    const hand = handTo(first, begun.runId);
    await hand(begun.pending[1] as PendingStep, { status: 'skipped' });
    const two = await hand(begun.pending[0] as PendingStep, success('A'));
    await first.kill();
    const second = await here.connect();
    const again = await second.host('wf_continue', {
      runId: begun.runId,
      stepId: two.pending[1]?.stepId ?? '',
      result: success('D'),
    });
    expect(again.pending.map(({ name }) => name)).toEqual(['c']);
    const end = await handTo(second, begun.runId)(again.pending[0] as PendingStep, success('C'));
    expect(end.result).toEqual(['A', null, 'C', 'D']);
  });

  it('takes the same answer again, and refuses another one, an unknown step and one of another run (H-15)', async () => {
    const here = place();
    const server = await here.connect();
    const source = { script: script(`return [await agent('one'), await agent('two')]`) };
    const [mine, other] = [await server.host('wf_start', source), await server.host('wf_start', source)];
    const hand = handTo(server, mine.runId);
    const [step] = mine.pending as [PendingStep];
    const [foreign] = other.pending as [PendingStep];
    const next = await hand(step, success('1'));
    expect(await hand(step, success('1'))).toEqual(next);
    await expect(hand(step, success('another'))).rejects.toThrow(/has its answer.*\[STEP_ENDED\]/);
    await expect(hand(foreign, success('1'))).rejects.toThrow(`belongs to the run ${other.runId}`);
    await expect(hand({ ...step, stepId: 'a1' }, success('1'))).rejects.toThrow(
      /handed out no step "a1".*\[STEP_UNKNOWN\]/,
    );
    const end = await hand(next.pending[0] as PendingStep, success('2'));
    expect(end).toMatchObject({ status: 'completed', result: ['1', '2'] });
    expect(await hand(step, success('1'))).toEqual(end);
    await server.close();
    const later = handTo(await here.connect(), mine.runId);
    expect(await later(step, success('1'))).toEqual({ ...end, logs: [] });
    await expect(later(step, success('another'))).rejects.toThrow(/is over \(completed\).*\[STEP_ENDED\]/);
  });

  it('is refused for a graph, for nothing, for a bad script and for other members, and starts nothing then (H-12)', async () => {
    const here = place();
    const server = await here.connect();
    const refusal = async (args: Record<string, unknown>) => (await server.call('wf_start', args)).text;
    expect(await refusal({ graph: { steps: [] } })).toMatch(
      /graph of steps is not in this version.*\[USAGE_UNSUPPORTED\]/,
    );
    expect(await refusal({})).toMatch(/no workflow was named.*\[USAGE_INVALID\]/);
    expect(await refusal({ script: 'return 1', more: 1 })).toMatch(/"more".*It takes: .*maxPending/);
    expect(await refusal({ script: script('return ('), maxPending: 1 })).toMatch(/\[SCRIPT_SYNTAX\]/);
    expect(await refusal({ script: script('return 1'), maxPending: 0 })).toMatch(/maxPending: /);
    expect(await refusal({ scriptPath: 'nowhere.js' })).toMatch(/nowhere\.js does not exist.*\[FILE_MISSING\]/);
    expect((await server.call('wf_status', { runId: 'wf_00000000-000' })).text).toMatch(/\[REPLAY_RUN_UNKNOWN\]/);
    expect(() => readdirSync(join(here.state, 'runs'))).toThrow();
  });

  it('ends with wf_cancel, and is over for the next server too (H-13)', async () => {
    const here = place();
    const server = await here.connect();
    const { runId } = await server.host('wf_start', { script: script(`return agent('never')`) });
    expect(await server.host('wf_cancel', { runId, reason: 'no time' })).toMatchObject({
      status: 'cancelled',
      pending: [],
      error: { code: 'RUN_CANCELLED', message: expect.stringContaining('no time') },
    });
    await server.close();
    expect(await (await here.connect()).host('wf_status', { runId })).toMatchObject({
      status: 'cancelled',
      pending: [],
    });
  });

  it('is not taken from a server that lives (H-16, R-14)', async () => {
    const here = place();
    const first = await here.connect();
    const { runId } = await first.host('wf_start', { script: script(`return agent('mine')`) });
    const second = await here.connect();
    expect((await second.call('wf_status', { runId })).text).toMatch(/\[REPLAY_RUN_LIVE\]/);
  });

  it('leaves no process behind, 2 s after its server was killed at any moment (A-18)', async () => {
    const here = place();
    for (const moment of ['at once', 'with a step', 'in a call'] as const) {
      const server = await here.connect();
      const calling =
        moment === 'at once'
          ? undefined
          : server.call('wf_start', {
              script: script(
                moment === 'in a call' ? 'await new Promise((wake) => setTimeout(wake, 60_000))' : `return agent('x')`,
              ),
            });
      calling?.catch(() => {});
      if (moment === 'with a step') await calling;
      if (moment === 'in a call') await waitUntil(() => descendantsOf(server.pid).length > 0);
      const processes = descendantsOf(server.pid);
      await server.kill();
      const killedAtMs = performance.now();
      await waitUntil(() => processes.every((pid) => !isAlive(pid)));
      expect(performance.now() - killedAtMs).toBeLessThan(2_000);
    }
  });
});
