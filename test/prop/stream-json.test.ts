import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStreamJsonEmitter, projectStreamJson, type StreamJsonOptions } from '../../emitters/stream-json.ts';
import { TaskTracker } from '../../emitters/task-tracker.ts';
import type { CoreEvent } from '../../protocol/core-event.ts';
import { type StreamJsonDialect, type StreamJsonLine, streamJsonLineSchema } from '../../protocol/stream-json.ts';
import { createFakeClock, createSampleLog, START_MS, sampleKey } from '../unit/emitters/sample-log.ts';

const TASK_ID = '11111111-2222-4333-8444-555555555555';

interface Agent {
  readonly queuedMs: number;
  readonly waitMs: number;
  readonly silentMs: number;
  readonly workMs: number;
  readonly tools: number;
  readonly fate: 'done' | 'error' | 'cancelled' | 'skipped' | 'cached' | 'never';
  readonly promptCharacters: number;
  readonly answerCharacters: number;
}

interface Schedule {
  readonly agents: readonly Agent[];
  /** Each agent is queued when the one before it has ended. */
  readonly inSequence: boolean;
  readonly status: 'completed' | 'failed' | 'killed';
  readonly dialect: StreamJsonDialect;
  readonly letter: string;
}

const duration = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 20_000 }));

const agentArbitrary: fc.Arbitrary<Agent> = fc.record({
  queuedMs: duration,
  waitMs: duration,
  silentMs: duration,
  workMs: fc.oneof(duration, fc.integer({ min: 0, max: 600_000 })),
  tools: fc.nat({ max: 6 }),
  fate: fc.constantFrom('done', 'done', 'done', 'error', 'cancelled', 'skipped', 'cached', 'never'),
  promptCharacters: fc.constantFrom(0, 7, 60, 400),
  answerCharacters: fc.constantFrom(0, 7, 60, 400),
});

const scheduleArbitrary: fc.Arbitrary<Schedule> = fc.record({
  agents: fc.oneof(
    fc.array(agentArbitrary, { minLength: 0, maxLength: 12 }),
    fc.array(agentArbitrary, { minLength: 80, maxLength: 180, size: 'max' }),
  ),
  inSequence: fc.boolean(),
  status: fc.constantFrom('completed', 'failed', 'killed'),
  dialect: fc.constantFrom('claude', 'cbc'),
  letter: fc.constantFrom('x', '界', '😀', '"'),
});

function toEvents({ agents, inSequence, status, letter }: Schedule): CoreEvent[] {
  const steps: { atMs: number; add: (log: ReturnType<typeof createSampleLog>) => void }[] = [];
  let endMs = 0;
  let fromMs = 0;
  agents.forEach((agent, at) => {
    const index = at + 1;
    const options = { prompt: letter.repeat(agent.promptCharacters) };
    const queuedMs = inSequence ? fromMs : agent.queuedMs;
    const startedMs = queuedMs + agent.waitMs;
    const activeMs = startedMs + agent.silentMs;
    const endedMs = activeMs + agent.workMs;
    if (agent.fate === 'cached') {
      steps.push({ atMs: queuedMs, add: (log) => log.cached(index, options) });
      fromMs = queuedMs;
      endMs = Math.max(endMs, queuedMs);
      return;
    }
    steps.push({ atMs: queuedMs, add: (log) => log.queue(index, options) });
    steps.push({ atMs: startedMs, add: (log) => log.begin(index) });
    steps.push({ atMs: activeMs, add: (log) => log.active(index) });
    for (let tool = 1; tool <= agent.tools; tool++) {
      steps.push({
        atMs: activeMs + Math.floor((agent.workMs * tool) / (agent.tools + 1)),
        add: (log) =>
          log.add('agent.tool', {
            key: sampleKey(index),
            toolUseId: `t${tool}`,
            name: 'Read',
            status: 'started',
            summary: 's'.repeat(tool * 30),
          }),
      });
    }
    fromMs = endedMs;
    endMs = Math.max(endMs, endedMs);
    if (agent.fate === 'never') return;
    const { fate } = agent;
    steps.push({
      atMs: endedMs,
      add: (log) =>
        log.end(index, {
          state: fate,
          durationMs: endedMs - startedMs,
          toolUses: agent.tools,
          resultPreview: letter.repeat(agent.answerCharacters),
          ...(fate === 'done' ? {} : { error: { code: 'AGENT_API', message: letter.repeat(30) } }),
        }),
    });
  });
  const log = createSampleLog().start();
  for (const { atMs, add } of steps.map((step, n) => ({ ...step, n })).sort((a, b) => a.atMs - b.atMs || a.n - b.n)) {
    add(log.at(atMs));
  }
  return log.at(endMs).finish({ status }).events;
}

const optionsOf = (dialect: StreamJsonDialect): StreamJsonOptions => ({
  dialect,
  taskId: TASK_ID,
  sessionId: '99999999-8888-4777-8666-555555555555',
  toolUseId: 'toolu_0123456789abcdefghijklmn',
  includeSource: true,
  scriptText: 'return 1',
});

const parse = (lines: readonly string[]): StreamJsonLine[] =>
  lines.map((line) => streamJsonLineSchema.parse(JSON.parse(line)));

function progressRatio(lines: readonly string[]): number {
  const progress = lines.filter((line) => line.includes('"subtype":"task_progress"'));
  const last = progress.findLast((line) => line.includes('"workflow_progress":')) ?? '';
  const bytes = progress.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  return bytes / (Buffer.byteLength(last) + 1);
}

const RANK = { start: 1, progress: 2, done: 3, error: 3, cached: 3 } as const;

interface Progress {
  readonly subtype: string;
  readonly usage: { readonly duration_ms: number };
  readonly workflow_progress?: readonly Item[];
  readonly workflow_changes?: readonly Item[];
}
type Item = { readonly type: string; readonly index: number; readonly state: keyof typeof RANK };

/** Longest time from a state change in the log to the first line that shows it, or a later state. */
function longestDelayMs(events: readonly CoreEvent[], lines: readonly string[], dialect: StreamJsonDialect): number {
  /** For each agent, when each rank was first shown. */
  const shown = new Map<number, number[]>();
  for (const line of lines.map((text) => JSON.parse(text) as Progress)) {
    if (line.subtype !== 'task_progress') continue;
    for (const item of line.workflow_progress ?? line.workflow_changes ?? []) {
      if (item.type !== 'workflow_agent') continue;
      const ranks = shown.get(item.index) ?? [];
      shown.set(item.index, ranks);
      for (let rank: number = RANK[item.state]; rank > 0; rank--) ranks[rank] ??= START_MS + line.usage.duration_ms;
    }
  }
  let longest = 0;
  for (const event of events) {
    const rank = rankOf(event, dialect);
    if (rank === undefined || !('key' in event.data)) continue;
    const index = Number.parseInt(event.data.key.slice(3), 16);
    longest = Math.max(longest, (shown.get(index)?.[rank] ?? Number.POSITIVE_INFINITY) - event.at);
  }
  return longest;
}

function rankOf({ type }: CoreEvent, dialect: StreamJsonDialect): number | undefined {
  if (type === 'agent.queued') return RANK.start;
  if (type === 'agent.active') return dialect === 'claude' ? RANK.progress : undefined;
  return type === 'agent.finished' || type === 'agent.cached' ? RANK.done : undefined;
}

// A schedule has up to 180 agents and hundreds of lines; on a busy machine a hundred of them take their time.
describe('stream-json over random schedules', { timeout: 60_000 }, () => {
  it('keeps order, ids, one notification and a final snapshot (E-4, E-7, E-9, E-10, E-11)', () => {
    fc.assert(
      fc.property(scheduleArbitrary, (schedule) => {
        const lines = parse(projectStreamJson(toEvents(schedule), optionsOf(schedule.dialect)));
        const family = lines.filter(({ subtype }) => subtype !== 'background_tasks_changed');
        const names = family.map(({ subtype }) => subtype);
        expect(names[0]).toBe('task_started');
        expect(names.filter((name) => name !== 'task_progress')).toEqual([
          'task_started',
          'task_updated',
          'task_notification',
        ]);
        expect(new Set(lines.map(({ uuid }) => uuid)).size).toBe(lines.length);
        const updatedAt = names.indexOf('task_updated');
        expect(names[updatedAt + 1]).toBe('task_notification');
        const lastAt = family.findLastIndex((line) => line.subtype === 'task_progress' && line.workflow_progress);
        expect(lastAt).toBe(schedule.status === 'killed' ? updatedAt + 2 : updatedAt - 1);
        const last = family[lastAt];
        const items = last?.subtype === 'task_progress' ? (last.workflow_progress ?? []) : [];
        const open = items.filter((item) => item.type === 'workflow_agent' && RANK[item.state] < 3);
        expect(open).toEqual([]);
        expect(items.filter(({ type }) => type === 'workflow_agent')).toHaveLength(schedule.agents.length);
      }),
    );
  });

  it('spends at most 12 times the last snapshot on progress, and shows each state change in time (E-14)', () => {
    fc.assert(
      fc.property(scheduleArbitrary, (schedule) => {
        const events = toEvents(schedule);
        const lines = projectStreamJson(events, optionsOf(schedule.dialect));
        expect(progressRatio(lines)).toBeLessThanOrEqual(12);
        const boundMs = schedule.agents.length <= 100 ? 1000 : 3000;
        expect(longestDelayMs(events, lines, schedule.dialect)).toBeLessThanOrEqual(boundMs);
      }),
      { numRuns: 150 },
    );
  });

  it('writes live what a replay writes later (E-2)', () => {
    fc.assert(
      fc.property(scheduleArbitrary, (schedule) => {
        const events = toEvents(schedule);
        const clock = createFakeClock();
        const live: string[] = [];
        const emitter = createStreamJsonEmitter({
          ...optionsOf(schedule.dialect),
          clock,
          write: (line) => void live.push(line),
        });
        for (const event of events) {
          clock.moveTo(event.at - START_MS);
          emitter.handle(event);
        }
        expect(live).toEqual(projectStreamJson(events, optionsOf(schedule.dialect)));
      }),
    );
  });

  it('lets a tracker that follows the stream end with the state of the log (E-15)', () => {
    fc.assert(
      fc.property(scheduleArbitrary, (schedule) => {
        const tracker = new TaskTracker();
        for (const line of projectStreamJson(toEvents(schedule), optionsOf(schedule.dialect))) tracker.accept(line, 0);
        const task = tracker.task(TASK_ID);
        expect(task?.status).toBe(schedule.status);
        expect(task?.notification?.status).toBe(schedule.status === 'killed' ? 'stopped' : schedule.status);
        const expected = schedule.agents.map(({ fate }) => {
          if (fate === 'done') return 'done';
          if (fate === 'cached') return schedule.dialect === 'cbc' ? 'cached' : 'done';
          return 'error';
        });
        expect(task?.agents.map(({ state }) => state)).toEqual(expected);
      }),
    );
  });

  it.each(['claude', 'cbc'] as const)(
    'prints under 5 MB for 1,000 agents, however they are spaced, in dialect %s (E-14)',
    (dialect) => {
      for (const inSequence of [true, false]) {
        for (const spaceMs of [0, 40, 4000]) {
          const agents = Array.from(
            { length: 1000 },
            (_, at): Agent => ({
              queuedMs: 0,
              waitMs: inSequence ? spaceMs : Math.floor(at / 16) * 3 * spaceMs + at * 7,
              silentMs: spaceMs,
              workMs: spaceMs,
              tools: 2,
              fate: at % 7 === 0 ? 'error' : 'done',
              promptCharacters: 400,
              answerCharacters: 400,
            }),
          );
          const events = toEvents({ agents, inSequence, status: 'completed', dialect, letter: 'x' });
          const lines = projectStreamJson(events, optionsOf(dialect));
          const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
          expect(bytes).toBeLessThan(5_000_000);
          expect(progressRatio(lines)).toBeLessThanOrEqual(12);
          expect(longestDelayMs(events, lines, dialect)).toBeLessThanOrEqual(3000);
        }
      }
    },
  );
});
