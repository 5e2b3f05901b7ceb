import { describe, expect, it } from 'vitest';
import type { CoreEvent } from '../../../protocol/core-event.ts';
import { createRunSummary, summarizeRun } from '../../../protocol/run-summary.ts';
import { createSampleLog, sampleKey } from '../emitters/sample-log.ts';

const mixed = () =>
  createSampleLog()
    .start({ workflow: { name: 'n', description: 'd', phases: [{ title: 'One' }] } })
    .add('phase.started', { index: 1, title: 'One' })
    .add('phase.started', { index: 2, title: 'Two', kind: 'child' })
    .cached(1)
    .queue(2)
    .queue(3, { label: 'dies' })
    .queue(4)
    .queue(5)
    .queue(6)
    .begin(2)
    .begin(3)
    .at(400)
    .end(2, { toolUses: 3, emptyResult: true })
    .end(3, { state: 'error', outputTokens: 0, error: { code: 'AGENT_API', message: '400' } })
    .end(4, { state: 'skipped', inputTokens: 0, outputTokens: 0 })
    .end(5, { state: 'cancelled', inputTokens: 1, outputTokens: 0 })
    .add('part.failed', {
      helper: 'pipeline',
      index: 2,
      stage: 1,
      scope: '',
      error: { code: 'SCRIPT_THREW', message: 'boom' },
    })
    .add('log', { level: 'info', text: 'a line' })
    .add('limit', { code: 'LIMIT_ITEMS', message: 'm' })
    .at(500)
    .add('limit', { code: 'LIMIT_ITEMS', message: 'm' });

describe('the run summary', () => {
  it('counts every kind of end, cached agents as done too (A-19)', () => {
    expect(summarizeRun(mixed().events).census()).toEqual({
      agent_count: 6,
      agents_done: 2,
      agents_error: 1,
      agents_skipped: 1,
      agents_cached: 1,
      agents_cancelled: 1,
      agents_empty_result: 1,
    });
  });

  it('adds up tokens and tools of live calls, and time since the start (A-19)', () => {
    const summary = summarizeRun(mixed().events);
    const tokens = { input_tokens: 201, output_tokens: 20, total_tokens: 221, tool_uses: 3 };
    expect(summary.usage()).toEqual({ ...tokens, duration_ms: 500 });
    expect(summary.usage(summary.started === undefined ? 0 : 1_700_000_002_000).duration_ms).toBe(2000);
  });

  it('names failures, logs, limits and phases (C-6)', () => {
    const summary = summarizeRun(mixed().events);
    expect(summary.failures).toEqual([
      { label: 'dies', code: 'AGENT_API', message: '400' },
      { label: 'pipeline item 2, stage 1', code: 'SCRIPT_THREW', message: 'boom' },
    ]);
    expect(summary.logs).toEqual([{ level: 'info', text: 'a line' }]);
    expect(summary.limitsHit).toEqual(['LIMIT_ITEMS']);
    expect(summary.phases).toEqual([
      { index: 1, title: 'One' },
      { index: 2, title: 'Two', kind: 'child' },
    ]);
  });

  it('keeps agents by call order with their states', () => {
    const summary = summarizeRun(mixed().events);
    expect(summary.agents.map(({ state }) => state)).toEqual([
      'cached',
      'done',
      'error',
      'skipped',
      'cancelled',
      'queued',
    ]);
    expect(summary.agents[2]).toMatchObject({ key: sampleKey(3), attempt: 1, tokens: 100 });
    expect(summary.inFlight).toBe(1);
  });

  it('counts the same without keeping agents, and still knows the labels of failures', () => {
    const summary = summarizeRun(mixed().events, { keepAgents: false });
    expect(summary.agents).toEqual([]);
    expect(summary.census()).toEqual(summarizeRun(mixed().events).census());
    expect(summary.failures[0]?.label).toBe('dies');
  });

  it('begins anew with a new launch, and skips types it does not know', () => {
    const summary = createRunSummary();
    for (const event of mixed().events) summary.apply(event);
    for (const event of createSampleLog().start({ launch: 2 }).queue(1).events) summary.apply(event);
    summary.apply({ seq: 9, at: 1_700_000_000_900, type: 'agent.dreaming', data: {} } as unknown as CoreEvent);
    expect(summary.started?.launch).toBe(2);
    expect(summary.census()).toMatchObject({ agent_count: 1, agents_done: 0 });
    expect(summary.failures).toEqual([]);
  });
});
