import { describe, expect, it } from 'vitest';
import { WorkflowError } from '../../../../protocol/workflow-error.ts';
import { judgeVariant } from '../../../../runtime/rehearse/judge-variant.ts';
import { createMemoryRunStore } from '../../../../runtime/rehearse/memory-run-store.ts';
import type { Played } from '../../../../runtime/rehearse/play.ts';

const COMPLETED: Played = {
  status: 'completed',
  result: { n: 1 },
  error: undefined,
  calls: [],
  scriptLogs: [],
  brokenParts: [],
  limitsHit: [],
  stubbornTurns: 0,
  mostWaiting: 1,
  ranAway: false,
  run: { store: createMemoryRunStore(), runId: 'wf_00000001-000' },
};
const CALL = { number: 2, label: 'second', scope: '' };

const resumed = (played: Partial<Played>, askedAgain: readonly string[] = [], usesBudget = false) =>
  judgeVariant({
    variant: { kind: 'kill', number: 2 },
    baseline: COMPLETED,
    played: { ...COMPLETED, ...played },
    call: CALL,
    askedAgain,
    usesBudget,
  });

describe('a resumed run', () => {
  it('that ends as the undisturbed one did has no finding (R-8)', () => {
    expect(resumed({})).toEqual([]);
  });

  it('that gives another result is found (R-23)', () => {
    expect(resumed({ result: { n: 2 } })).toEqual([
      {
        kind: 'resume-differs',
        severity: 'error',
        message:
          'When the run is killed after call 2 "second" and resumed, the script gives another result: n is 2 and was 1',
        variants: ['kill:2'],
      },
    ]);
  });

  it('that gives another result is only warned of when the script asks for the budget (A-16)', () => {
    expect(resumed({ result: { n: 2 } }, [], true)).toMatchObject([
      { kind: 'resume-differs', severity: 'warning', message: expect.stringContaining('starts at 0') },
    ]);
  });

  it('that does not use stored answers is found (R-8)', () => {
    expect(resumed({}, ['first', 'second', 'third', 'fourth', 'fifth'])[0]?.message).toContain(
      'does not use the stored answers of "first", "second", "third" and 2 more',
    );
  });

  it('that fails is found, with its line', () => {
    const error = new WorkflowError('SCRIPT_THREW', 'Error: no', { place: { line: 7 } });
    expect(resumed({ status: 'failed', error })).toMatchObject([{ kind: 'resume-differs', line: 7 }]);
  });
});
