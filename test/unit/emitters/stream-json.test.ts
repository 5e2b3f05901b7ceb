import { describe, expect, it } from 'vitest';
import { createBackgroundTasks } from '../../../emitters/background-tasks.ts';
import { lineUuid } from '../../../emitters/stream-json/line-uuid.ts';
import { createStreamJsonEmitter, projectStreamJson, type StreamJsonOptions } from '../../../emitters/stream-json.ts';
import { createFakeClock, createSampleLog, type SampleLog } from './sample-log.ts';

type Line = Record<string, unknown> & {
  readonly subtype: string;
  readonly workflow_progress?: readonly Record<string, unknown>[];
  readonly workflow_changes?: readonly Record<string, unknown>[];
};

const options: StreamJsonOptions = {
  dialect: 'claude',
  taskId: 'task-1',
  sessionId: 'session-1',
  includeSource: true,
  scriptText: 'return 1',
  scriptFileName: 'flow.js',
  startedByPath: true,
};

const project = (log: SampleLog, over: Partial<StreamJsonOptions> = {}): Line[] =>
  projectStreamJson(log.events, { ...options, ...over }).map((line) => JSON.parse(line) as Line);

const agentsOf = (line: Line | undefined) =>
  (line?.workflow_progress ?? []).filter(({ type }) => type === 'workflow_agent');

const lastSnapshot = (lines: readonly Line[]) => lines.findLast((line) => line.workflow_progress !== undefined);

describe('the stream-json emitter', () => {
  it('names a run by its meta, or in dialect cbc by the path it was started with (E-8)', () => {
    const log = createSampleLog().start();
    expect(project(log)[0]).toMatchObject({ subtype: 'task_started', workflow_name: 'sample', prompt: 'return 1' });
    const [cbc] = project(log, { dialect: 'cbc' });
    expect(cbc).toMatchObject({ workflow_name: 'path:flow.js' });
    expect(cbc).not.toHaveProperty('prompt');
    expect(project(log, { dialect: 'cbc', startedByPath: false })[0]).toMatchObject({ workflow_name: 'sample' });
    expect(project(log, { includeSource: false })[0]).not.toHaveProperty('prompt');
  });

  it('carries the tool call that started the run on every line of the task (E-4)', () => {
    const log = createSampleLog().start({ toolUseId: 'toolu_9' }).queue(1).begin(1).at(900).end(1).finish();
    const family = project(log).filter(({ subtype }) => subtype.startsWith('task_'));
    expect(family.map(({ tool_use_id }) => tool_use_id)).toEqual(family.map(() => 'toolu_9'));
  });

  it('tells queued, started, active and ended agents apart (E-8)', () => {
    const log = createSampleLog().start().queue(1).queue(2).queue(3).begin(2).begin(3).active(3).at(5000);
    const claude = agentsOf(lastSnapshot(project(log)));
    expect(claude.map(({ state }) => state)).toEqual(['start', 'start', 'progress']);
    expect(claude[0]).not.toHaveProperty('startedAt');
    expect(claude[1]).toHaveProperty('startedAt');
    const cbc = agentsOf(lastSnapshot(project(log, { dialect: 'cbc' })));
    expect(cbc.map(({ state }) => state)).toEqual(['start', 'start', 'start']);
  });

  it('puts the phases of meta first, by index from 1, then those that came (E-5)', () => {
    const phases = [{ title: 'Plan' }, { title: 'Build' }];
    const log = createSampleLog()
      .start({ workflow: { name: 'n', description: 'd', phases } })
      .add('phase.started', { index: 1, title: 'Plan' })
      .add('phase.started', { index: 3, title: 'child', kind: 'child' })
      .queue(1, { phase: [4, 'Named by an agent'] })
      .finish();
    const items = lastSnapshot(project(log))?.workflow_progress ?? [];
    expect(items.slice(0, 4)).toEqual([
      { type: 'workflow_phase', index: 1, title: 'Plan' },
      { type: 'workflow_phase', index: 2, title: 'Build' },
      { type: 'workflow_phase', index: 3, title: 'child', kind: 'child' },
      { type: 'workflow_phase', index: 4, title: 'Named by an agent' },
    ]);
  });

  it('ends what was in flight when the run completed, before it says so (E-10)', () => {
    const log = createSampleLog().start().queue(1).begin(1).queue(2).at(50).finish();
    const lines = project(log);
    const names = lines.map(({ subtype }) => subtype);
    expect(names.indexOf('task_progress')).toBeLessThan(names.indexOf('task_updated'));
    expect(agentsOf(lastSnapshot(lines))).toMatchObject([
      { state: 'error', endedWithRun: 'completed', error: expect.stringMatching(/^subagent aborted: /) },
      { state: 'error', endedWithRun: 'completed' },
    ]);
  });

  it('says killed, then stopped, then moves agents in flight to error (E-11)', () => {
    const log = createSampleLog().start().queue(1).begin(1).queue(2).begin(2).at(100).end(2).at(2000);
    log.end(1, { state: 'cancelled', inputTokens: 7, error: { code: 'RUN_CANCELLED', message: 'interrupted' } });
    log.at(2400).finish({ status: 'killed', error: { code: 'RUN_CANCELLED', message: 'interrupted' } });
    const lines = project(log);
    const updatedAt = lines.findIndex(({ subtype }) => subtype === 'task_updated');
    expect(agentsOf(lines.slice(0, updatedAt).findLast(({ workflow_progress }) => workflow_progress))).toMatchObject([
      { state: 'start' },
      { state: 'done' },
    ]);
    expect(lines[updatedAt]).toMatchObject({ patch: { status: 'killed', end_time: 1_700_000_002_400 } });
    expect(lines[updatedAt + 1]).toMatchObject({ subtype: 'task_notification', status: 'stopped' });
    expect(agentsOf(lines[updatedAt + 2])).toMatchObject([
      { state: 'error', endedWithRun: 'stopped', error: 'subagent aborted: interrupted', tokens: 27 },
      { state: 'done' },
    ]);
  });

  it('shows a cancelled agent in time when its run goes on (E-14)', () => {
    const log = createSampleLog().start().queue(1).begin(1).at(1000).end(1, { state: 'cancelled' }).at(9000).queue(2);
    const line = project(log).find((each) => agentsOf(each)[0]?.['state'] === 'error');
    expect(line).toMatchObject({ usage: { duration_ms: 1800 } });
    expect(agentsOf(line)[0]).not.toHaveProperty('endedWithRun');
  });

  it('has the census at the end and says when all agents died, or were simulated (E-7, A-19, A-24)', () => {
    const log = createSampleLog().start({ simulated: true }).queue(1).begin(1);
    log.end(1, { state: 'error', error: { code: 'AGENT_API', message: 'no' } }).finish();
    expect(project(log).find(({ subtype }) => subtype === 'task_notification')).toMatchObject({
      status: 'completed',
      summary: expect.stringMatching(/^SIMULATED: No agent of workflow "sample" gave an answer/),
      output_file: '/state/runs/wf_00000001-abc/output.json',
      census: { agent_count: 1, agents_error: 1 },
      simulated: true,
    });
  });

  it('marks the lines that a slow reader must get, and those that replace others (E-9)', () => {
    const marks: [string, boolean, boolean][] = [];
    const emitter = createStreamJsonEmitter({
      ...options,
      write: (line, critical, supersedes) =>
        void marks.push([(JSON.parse(line) as Line).subtype, critical, supersedes]),
    });
    for (const event of createSampleLog().start().queue(1).at(3000).end(1).finish().events) emitter.handle(event);
    expect(marks).toEqual([
      ['task_started', true, false],
      ['background_tasks_changed', true, false],
      ['task_progress', false, true],
      ['task_progress', true, true],
      ['task_updated', true, false],
      ['task_notification', true, false],
      ['background_tasks_changed', true, false],
    ]);
  });

  it('lists the workflows of a session when their set changes, in dialect claude only (E-5)', () => {
    const backgroundTasks = createBackgroundTasks();
    backgroundTasks.add({ task_id: 'other', task_type: 'local_workflow', description: 'another one' });
    const log = createSampleLog().start().finish();
    const sets = project(log, { backgroundTasks }).flatMap(({ tasks }) => (tasks === undefined ? [] : [tasks]));
    expect(sets).toMatchObject([[{ task_id: 'other' }, { task_id: 'task-1' }], [{ task_id: 'other' }]]);
    expect(project(log, { dialect: 'cbc' }).map(({ subtype }) => subtype)).not.toContain('background_tasks_changed');
  });

  it('shows the last change of a silent run by its clock, and arms no timer after the end', () => {
    const clock = createFakeClock();
    const lines: string[] = [];
    const emitter = createStreamJsonEmitter({ ...options, clock, write: (line) => void lines.push(line) });
    const log = createSampleLog().start().queue(1);
    for (const event of log.events) emitter.handle(event);
    expect(lines).toHaveLength(2);
    clock.moveTo(200);
    expect(lines).toHaveLength(3);
    emitter.handle(log.at(200).finish().events.at(-1) as never);
    const written = lines.length;
    clock.moveTo(60_000);
    expect(lines).toHaveLength(written);
  });

  it('projects the last launch of a log, also one that died without an end (E-2)', () => {
    const log = createSampleLog().start().queue(1).finish();
    log.at(10_000).start({ launch: 2 }).queue(1, { label: 'again' });
    const lines = project(log);
    expect(lines.map(({ subtype }) => subtype)).toEqual(['task_started', 'background_tasks_changed', 'task_progress']);
    expect(agentsOf(lines[2])).toMatchObject([{ label: 'again' }]);
  });

  it('leaves previews out of the snapshots of a large run, except the last, where they are short (E-14)', () => {
    const log = createSampleLog().start();
    for (let index = 1; index <= 101; index++) log.queue(index, { prompt: 'p'.repeat(400) });
    const lines = project(log.at(5000).finish());
    const [first] = lines.filter(({ workflow_progress }) => workflow_progress);
    expect(agentsOf(first)[0]).not.toHaveProperty('promptPreview');
    const last = agentsOf(lastSnapshot(lines));
    expect(last[0]).toMatchObject({ promptPreview: 'p'.repeat(400) });
    expect(last[100]).toMatchObject({ promptPreview: 'p'.repeat(200) });
  });

  it('gives one object a line, whatever characters break lines elsewhere', () => {
    const log = createSampleLog().start();
    const [line] = projectStreamJson(log.events, { ...options, scriptText: 'a\u2028b\u0085c\nd' });
    expect(line).toContain('a\\u2028b\\u0085c\\nd');
    expect(JSON.parse(line ?? '')).toMatchObject({ prompt: 'a\u2028b\u0085c\nd' });
  });
});

describe('the uuid of a line', () => {
  it('is a version 8 UUID that depends on task, launch and number (RFC 9562)', () => {
    const uuid = lineUuid('task', 1, 1);
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(lineUuid('task', 1, 1)).toBe(uuid);
    expect(new Set([uuid, lineUuid('task', 1, 2), lineUuid('task', 2, 1), lineUuid('other', 1, 1)]).size).toBe(4);
  });
});
