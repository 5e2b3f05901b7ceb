import type { CoreEvent, CoreEventData, CoreEventType } from '../../../protocol/core-event.ts';
import { createRunSummary } from '../../../protocol/run-summary.ts';
import type { Clock } from '../../../runtime/ports.ts';

export const START_MS = 1_700_000_000_000;

export const sampleKey = (index: number): string => `v1:${index.toString(16).padStart(64, '0')}`;

export interface QueueOptions {
  readonly label?: string;
  readonly prompt?: string;
  readonly phase?: readonly [index: number, title: string];
}

/** Builds a log of one launch by hand; times are milliseconds after {@link START_MS}. */
export interface SampleLog {
  readonly events: CoreEvent[];
  at(ms: number): SampleLog;
  add<T extends CoreEventType>(type: T, data: CoreEventData<T>): SampleLog;
  start(over?: Partial<CoreEventData<'run.started'>>): SampleLog;
  queue(index: number, options?: QueueOptions): SampleLog;
  begin(index: number, attempt?: number): SampleLog;
  active(index: number): SampleLog;
  end(index: number, over?: Partial<CoreEventData<'agent.finished'>>): SampleLog;
  cached(index: number, options?: QueueOptions): SampleLog;
  finish(over?: Partial<CoreEventData<'run.finished'>>): SampleLog;
}

export function createSampleLog(): SampleLog {
  const events: CoreEvent[] = [];
  const summary = createRunSummary();
  let atMs = START_MS;
  const log: SampleLog = {
    events,
    at(ms) {
      atMs = START_MS + ms;
      return log;
    },
    add(type, data) {
      const event = { seq: events.length + 1, at: atMs, type, data } as CoreEvent;
      events.push(event);
      summary.apply(event);
      return log;
    },
    start: (over = {}) => log.add('run.started', { ...runStarted, ...over }),
    queue: (index, options = {}) => log.add('agent.queued', identity(index, options)),
    begin: (index, attempt = 1) => log.add('agent.started', { key: sampleKey(index), attempt }),
    active: (index) => log.add('agent.active', { key: sampleKey(index) }),
    end(index, over = {}) {
      const answer = (over.state ?? 'done') === 'done' ? { resultPreview: `answer ${index}` } : {};
      return log.add('agent.finished', { ...agentFinished(index), ...answer, ...over });
    },
    cached: (index, options = {}) =>
      log.add('agent.cached', { ...identity(index, options), resultPreview: `cached answer ${index}` }),
    finish: (over = {}) =>
      log.add('run.finished', {
        status: 'completed',
        census: summary.census(),
        usage: summary.usage(atMs),
        limitsHit: [],
        outputFile: '/state/runs/wf_00000001-abc/output.json',
        resume: 'wf resume wf_00000001-abc',
        ...over,
      }),
  };
  return log;
}

const runStarted: CoreEventData<'run.started'> = {
  version: 1,
  runId: 'wf_00000001-abc',
  launch: 1,
  workflow: { name: 'sample', description: 'a workflow made by hand', phases: [] },
  scriptSha256: 'a'.repeat(64),
  argsSha256: null,
  backend: 'scripted',
  simulated: false,
  concurrency: { value: 16, source: 'backend' },
  limits: {
    maxAgents: 1000,
    maxItems: 4096,
    maxDepth: 1,
    maxRetries: 5,
    maxStructuredOutputRetries: 5,
    memoryLimitMb: 256,
    cpuLimitMs: 30_000,
    timeoutMs: null,
    budget: null,
  },
  wfVersion: '0.1.0',
  nodeVersion: 'v24.0.0',
};

function identity(index: number, { label, prompt, phase }: QueueOptions): CoreEventData<'agent.queued'> {
  return {
    key: sampleKey(index),
    agentId: `a${index.toString(16).padStart(16, '0')}`,
    index,
    label: label ?? `agent-${index}`,
    scope: '',
    promptPreview: prompt ?? `PROMPT ${index}`,
    ...(phase === undefined ? {} : { phaseIndex: phase[0], phaseTitle: phase[1] }),
  };
}

function agentFinished(index: number): CoreEventData<'agent.finished'> {
  return {
    key: sampleKey(index),
    state: 'done',
    inputTokens: 100,
    outputTokens: 20,
    toolUses: 0,
    attempts: 0,
    attempt: 1,
    durationMs: 500,
  };
}

export interface FakeClock extends Clock {
  /** Moves time to `ms` after {@link START_MS}, running timers on the way. */
  moveTo(ms: number): void;
}

export function createFakeClock(): FakeClock {
  let nowMs = START_MS;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  return {
    now: () => nowMs,
    after(delayMs, callback) {
      const timer = { atMs: nowMs + delayMs, callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    moveTo(ms) {
      const untilMs = START_MS + ms;
      for (;;) {
        const next = [...timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        timers.delete(next);
        nowMs = Math.max(nowMs, next.atMs);
        next.callback();
      }
      nowMs = Math.max(nowMs, untilMs);
    },
  };
}
