import { describe, expect, it } from 'vitest';
import { streamTask } from '../../../../cli/output/stream-task.ts';
import type { CoreEventData } from '../../../../protocol/core-event.ts';

const started = (launch: number) => ({ runId: 'wf_0a1b2c3d-4e5', launch }) as CoreEventData<'run.started'>;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('streamTask', () => {
  it('gives the same ids for the same launch, so that a replay equals the live stream (E-2)', () => {
    const claude = streamTask(started(1), { dialect: 'claude', startedByPath: true });
    expect(streamTask(started(1), { dialect: 'claude', startedByPath: true })).toEqual(claude);
    expect(claude.taskId).toBe('wf_0a1b2c3d-4e5');
    expect(claude.sessionId).toMatch(UUID);
    expect(streamTask(started(2), { dialect: 'claude', startedByPath: true }).sessionId).not.toBe(claude.sessionId);
  });

  it('task ids of dialect cbc are UUIDs (E-8)', () => {
    expect(streamTask(started(1), { dialect: 'cbc', startedByPath: false }).taskId).toMatch(UUID);
  });

  it('the script is in the stream unless it is kept out (E-8)', () => {
    const choices = { dialect: 'claude', startedByPath: true, scriptText: 'text' } as const;
    expect(streamTask(started(1), choices)).toMatchObject({ includeSource: true, scriptText: 'text' });
    expect(streamTask(started(1), { ...choices, includeSource: false })).toMatchObject({ includeSource: false });
  });
});
