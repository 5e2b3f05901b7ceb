import { describe, expect, it } from 'vitest';
import { WorkflowError } from '../../../../protocol/workflow-error.ts';
import { type AgentContext, type AgentEnd, AgentRun } from '../../../../runtime/calls/agent-run.ts';
import { Slots } from '../../../../runtime/calls/slots.ts';
import { StallWatch } from '../../../../runtime/calls/stall-watch.ts';
import type { AgentOutcome, AgentRequest, WorktreeEnd, WorktreePlace, Worktrees } from '../../../../runtime/ports.ts';
import { createRedactor } from '../../../../runtime/redact.ts';
import { agentRequest } from '../../../support/agent-request.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { fakeRunDirectory } from '../../../support/fake-run-directory.ts';

const DONE: AgentOutcome = {
  valueJson: '"ok"',
  empty: false,
  usage: { inputTokens: 1, outputTokens: 1 },
  toolUses: 0,
  attempts: 0,
};

interface Asked {
  readonly request: AgentRequest;
  readonly signal: AbortSignal;
  readonly answer: PromiseWithResolvers<AgentOutcome>;
}

/** An agent that asked for a worktree, with worktrees and a backend that do what the test says. */
function isolated(end: WorktreeEnd = { kept: false }, worktrees?: Partial<Worktrees> | null, simulated = false) {
  const clock = new FakeClock();
  const directory = fakeRunDirectory(clock);
  const asked: Asked[] = [];
  const counts = { opened: 0, closed: 0 };
  const trees: Worktrees = {
    async open() {
      counts.opened += 1;
      return {
        cwd: '/tree/sub',
        path: '/tree',
        branch: 'wf/x-1',
        async close() {
          counts.closed += 1;
          return end;
        },
      };
    },
    sweep: async () => {},
    ...worktrees,
  };
  const context: AgentContext = {
    backend: {
      name: 'fake',
      defaultConcurrency: 1,
      canRejoin: false,
      simulated,
      model: undefined,
      run(request, signal) {
        const answer = Promise.withResolvers<AgentOutcome>();
        signal.addEventListener('abort', () => answer.reject(signal.reason));
        asked.push({ request, signal, answer });
        return answer.promise;
      },
      close: async () => {},
    },
    directory,
    events: directory.events,
    slots: new Slots(1),
    stallWatch: new StallWatch(clock),
    clock,
    random: () => 0,
    redactor: createRedactor([]),
    maxRetries: 1,
    transcripts: false,
    warned: new Set(),
    worktrees: worktrees === null ? undefined : trees,
  };
  const run = { runId: 'wf_0', eventsPath: '/events' };
  const request = agentRequest('GO', { cwd: '/repo/sub', options: { isolation: 'worktree' }, run });
  const moved: string[] = [];
  const watcher = { usage: () => {}, movedIn: (_: AgentRun, { path }: WorktreePlace) => void moved.push(path) };
  const agent = new AgentRun(request, { timeoutMs: undefined, stallMs: 1_000 }, context, watcher);
  const ends: AgentEnd[] = [];
  let released = 0;
  agent.run(
    () => {
      released += 1;
    },
    (ended) => ends.push(ended),
  );
  return { agent, asked, clock, counts, directory, ends, moved, released: () => released };
}

describe('an agent that asked for a worktree', () => {
  it('works in it, and has ended once it is closed; what is kept is known then (A-30)', async () => {
    const { agent, asked, counts, ends, moved, released } = isolated({ kept: true });
    await settle();
    expect(asked[0]?.request).toMatchObject({ cwd: '/tree/sub', worktree: { path: '/tree', branch: 'wf/x-1' } });
    expect(moved).toEqual(['/tree']);
    asked[0]?.answer.resolve(DONE);
    await settle();
    expect(counts).toEqual({ opened: 1, closed: 1 });
    expect(ends).toMatchObject([{ state: 'done' }]);
    expect(agent.keptWorktree).toEqual({ path: '/tree', branch: 'wf/x-1' });
    expect(released()).toBe(1);
  });

  it('finds the same one in its next attempt (A-15, A-30)', async () => {
    const { agent, asked, counts } = isolated();
    await settle();
    agent.onStall();
    await settle();
    expect(asked.map(({ request }) => [request.attempt ?? 1, request.cwd])).toEqual([
      [1, '/tree/sub'],
      [2, '/tree/sub'],
    ]);
    asked[1]?.answer.resolve(DONE);
    await settle();
    expect(counts).toEqual({ opened: 1, closed: 1 });
    expect(agent.keptWorktree).toBeUndefined();
  });

  it('leaves none behind when it is stopped while one is made (A-18, A-30)', async () => {
    const { agent, counts, ends } = isolated();
    agent.abort(new WorkflowError('RUN_CANCELLED', 'stopped'));
    await settle();
    expect(counts).toEqual({ opened: 1, closed: 1 });
    expect(ends).toEqual([{ state: 'cancelled' }]);
  });

  it('says in the log why one could not be removed', async () => {
    const { asked, directory } = isolated({ kept: true, problem: 'it is busy' });
    await settle();
    asked[0]?.answer.resolve(DONE);
    await settle();
    expect(directory.eventsOf('log')).toMatchObject([
      { data: { level: 'warn', text: 'The worktree /tree could not be removed: it is busy' } },
    ]);
  });

  it.each([
    ['none can be made', null],
    ['this one cannot be made', { open: () => Promise.reject(new WorkflowError('AGENT_ISOLATION', 'no repository')) }],
  ])('is refused, and asks no backend, when %s (A-4, A-30)', async (_, worktrees) => {
    const { asked, ends } = isolated({ kept: false }, worktrees);
    await settle();
    expect(asked).toEqual([]);
    expect(ends).toMatchObject([{ state: 'error', error: { code: 'AGENT_ISOLATION' } }]);
  });

  it('gets none when it is simulated and changes nothing (A-24)', async () => {
    const { asked, counts } = isolated({ kept: false }, null, true);
    await settle();
    expect(asked[0]?.request.cwd).toBe('/repo/sub');
    expect(counts.opened).toBe(0);
  });
});
