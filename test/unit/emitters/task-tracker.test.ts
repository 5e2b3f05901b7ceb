import { describe, expect, it } from 'vitest';
import { projectStreamJson } from '../../../emitters/stream-json.ts';
import { TaskTracker } from '../../../emitters/task-tracker.ts';
import { createSampleLog } from './sample-log.ts';

const uuid = '11111111-2222-4333-8444-555555555555';
const base = { type: 'system', task_id: 't', session_id: 's', uuid };
const usage = { total_tokens: 1, tool_uses: 0, duration_ms: 5 };
const agent = (index: number, state: string, over = {}) => ({
  type: 'workflow_agent',
  index,
  agentId: `v1:${index}`,
  label: `a${index}`,
  queuedAt: 1,
  state,
  ...over,
});
const progress = (over: object) => ({ ...base, subtype: 'task_progress', description: 'd', usage, ...over });
const notification = (status: string) => ({
  ...base,
  subtype: 'task_notification',
  status,
  summary: 's',
  output_file: '/o',
  usage,
});

describe('TaskTracker', () => {
  it('replaces snapshots, and keeps the old one when a line has none (E-15)', () => {
    const tracker = new TaskTracker();
    tracker.accept(progress({ workflow_progress: [agent(1, 'start'), agent(2, 'start')] }), 0);
    tracker.accept(progress({ usage: { ...usage, total_tokens: 9 } }), 1);
    expect(tracker.task('t')).toMatchObject({ usage: { total_tokens: 9 }, agents: [{ index: 1 }, { index: 2 }] });
    tracker.accept(progress({ workflow_progress: [agent(1, 'done')] }), 2);
    expect(tracker.task('t')?.agents).toHaveLength(1);
  });

  it('applies changes to the snapshot it has, and leaves out those of agents it has not met', () => {
    const tracker = new TaskTracker();
    tracker.accept(progress({ workflow_progress: [agent(1, 'start', { promptPreview: 'p' })] }), 0);
    const workflow_changes = [
      { type: 'workflow_phase', index: 1, title: 'One' },
      { type: 'workflow_agent', index: 1, state: 'done', tokens: 4 },
      agent(2, 'start'),
      { type: 'workflow_agent', index: 7, state: 'done' },
    ];
    const task = tracker.accept(progress({ workflow_changes }), 1);
    expect(task?.phases).toMatchObject([{ title: 'One' }]);
    expect(task?.agents).toMatchObject([
      { index: 1, state: 'done', tokens: 4, promptPreview: 'p' },
      { index: 2, state: 'start' },
    ]);
  });

  it('latches the first notification (E-15)', () => {
    const tracker = new TaskTracker();
    tracker.accept(notification('stopped'), 10);
    expect(tracker.accept(notification('completed'), 11)).toBeUndefined();
    expect(tracker.task('t')).toMatchObject({ notification: { status: 'stopped' }, notifiedAtMs: 10 });
  });

  it('takes late progress for five seconds after the notification, then nothing (E-11, E-15)', () => {
    const tracker = new TaskTracker();
    tracker.accept(progress({ workflow_progress: [agent(1, 'progress')] }), 0);
    tracker.accept(notification('stopped'), 1000);
    expect(tracker.accept(progress({ workflow_progress: [agent(1, 'error')] }), 6000)?.agents).toMatchObject([
      { state: 'error' },
    ]);
    expect(tracker.isSettled('t', 6000)).toBe(false);
    expect(tracker.accept(progress({ workflow_progress: [] }), 6001)).toBeUndefined();
    expect(tracker.isSettled('t', 6001)).toBe(true);
    expect(tracker.task('t')?.agents).toHaveLength(1);
  });

  it('ignores what it does not know, and never throws (E-12)', () => {
    const tracker = new TaskTracker();
    const strange = ['{', '"x"', null, 7, {}, { type: 'assistant' }, { ...base, subtype: 'task_dreaming' }, undefined];
    for (const line of strange) expect(tracker.accept(line, 0)).toBeUndefined();
    expect(tracker.tasks()).toEqual([]);
    const task = tracker.accept(progress({ tomorrow: 1, workflow_progress: [agent(1, 'done', { mood: 'good' })] }), 0);
    expect(task?.agents).toMatchObject([{ mood: 'good' }]);
  });

  it('follows several tasks in one stream', () => {
    const tracker = new TaskTracker();
    const options = { dialect: 'claude', sessionId: 's', includeSource: false } as const;
    const log = createSampleLog().start().queue(1).begin(1).at(10).end(1).finish();
    const one = projectStreamJson(log.events, { ...options, taskId: 'one' });
    const two = projectStreamJson(log.events.slice(0, 3), { ...options, taskId: 'two' });
    for (const line of [...two, ...one]) tracker.accept(line, 0);
    expect(tracker.tasks().map(({ taskId, status }) => [taskId, status])).toEqual([
      ['two', 'running'],
      ['one', 'completed'],
    ]);
  });
});
