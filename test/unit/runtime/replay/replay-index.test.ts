import { describe, expect, it } from 'vitest';
import type { ResultRow } from '../../../../protocol/journal-row.ts';
import { callKey } from '../../../../runtime/calls/call-key.ts';
import type { StoredRow } from '../../../../runtime/ports.ts';
import { ReplayIndex } from '../../../../runtime/replay/replay-index.ts';

const NO_OPTIONS = '{}';

function result(prompt: string, occurrence: number, value: string, scope = '', ordinal = occurrence): StoredRow {
  const key = callKey(prompt, NO_OPTIONS, occurrence);
  return {
    row: {
      type: 'result',
      key,
      agentId: `a${key.slice(3, 19)}`,
      ...(occurrence === 0 ? {} : { occurrence, content: callKey(prompt, NO_OPTIONS, 0) }),
      ...(ordinal === 0 ? {} : { ordinal }),
      scope,
      result: undefined,
      usage: { input_tokens: 1, output_tokens: 1, tool_uses: 0 },
      attempts: 0,
      at: 0,
    },
    resultJson: JSON.stringify(value),
  };
}

const storedValue = (index: ReplayIndex, prompt: string, scope = ''): string | undefined =>
  index.identify(prompt, NO_OPTIONS, scope).stored?.resultJson;

describe('ReplayIndex', () => {
  it('numbers identical calls in call order (R-1)', () => {
    const index = new ReplayIndex();
    const occurrences = [0, 1, 2].map(() => index.identify('same', NO_OPTIONS, '').occurrence);
    expect(occurrences).toEqual([0, 1, 2]);
    expect(index.identify('other', NO_OPTIONS, '').occurrence).toBe(0);
  });

  it('gives a call that is new the smallest number its content does not hold in the journal (R-1)', () => {
    const index = new ReplayIndex([result('same', 0, 'zero'), result('same', 2, 'two')]);
    expect(storedValue(index, 'same')).toBe('"zero"');
    const second = index.identify('same', NO_OPTIONS, '/elsewhere');
    expect(second.stored?.resultJson).toBe('"two"');
    expect(index.identify('same', NO_OPTIONS, '')).toMatchObject({ occurrence: 1, stored: undefined });
    expect(index.identify('same', NO_OPTIONS, '')).toMatchObject({ occurrence: 3, stored: undefined });
  });

  it('prefers the stored result of the same scope and ordinal (R-22)', () => {
    const index = new ReplayIndex([
      result('judge', 0, 'of item 3', '/pipeline:0/item:3/stage:1', 0),
      result('judge', 1, 'of item 0', '/pipeline:0/item:0/stage:1', 0),
    ]);
    expect(storedValue(index, 'judge', '/pipeline:0/item:0/stage:1')).toBe('"of item 0"');
    expect(storedValue(index, 'judge', '/pipeline:0/item:3/stage:1')).toBe('"of item 3"');
  });

  it('takes the lowest free occurrence where no scope fits (R-22)', () => {
    const index = new ReplayIndex([result('judge', 1, 'one', '/b', 0), result('judge', 0, 'zero', '/a', 0)]);
    expect(storedValue(index, 'judge', '/new')).toBe('"zero"');
    expect(storedValue(index, 'judge', '/new')).toBe('"one"');
    expect(storedValue(index, 'judge', '/new')).toBeUndefined();
  });

  it('never gives one stored result to two calls (R-8)', () => {
    const index = new ReplayIndex([result('same', 0, 'only')]);
    expect([storedValue(index, 'same'), storedValue(index, 'same')]).toEqual(['"only"', undefined]);
  });

  it('ignores failed and started rows as results but remembers their content (R-10)', () => {
    const key = callKey('dead', NO_OPTIONS, 0);
    const index = new ReplayIndex([
      {
        row: {
          type: 'failed',
          key,
          agentId: 'a0000000000000000',
          scope: '',
          error: { code: 'AGENT_API', message: 'x' },
          at: 0,
        },
      },
    ]);
    expect(index.knows(key)).toBe(true);
    expect(index.identify('dead', NO_OPTIONS, '')).toMatchObject({ key, occurrence: 0, stored: undefined });
  });

  describe('of a launch of the same script and args', () => {
    const PROGRAM = { scriptSha256: 'aa', argsSha256: null };
    const launched = (more: object = {}): StoredRow => ({
      row: {
        type: 'launched',
        v: 1,
        runId: 'wf_00000000-000',
        launch: 1,
        ...PROGRAM,
        limits: {},
        scopes: 1,
        wfVersion: '0',
        nodeVersion: '24',
        at: 0,
        ...more,
      },
    });

    it('a call takes no result of another place where its content has several (R-22)', () => {
      const rows = [launched(), result('judge', 0, 'of a', '/a', 0), result('judge', 1, 'of b', '/b', 0)];
      const index = new ReplayIndex(rows, PROGRAM);
      expect(storedValue(index, 'judge', '/c')).toBeUndefined();
      expect(storedValue(index, 'judge', '/b')).toBe('"of b"');
      expect(storedValue(index, 'judge', '/a')).toBe('"of a"');
      expect(storedValue(index, 'judge', '/a')).toBeUndefined();
    });

    it('a call takes the one result of its content from wherever it is, and may wait for the place it belongs to (R-22)', () => {
      const index = new ReplayIndex([launched(), result('judge', 0, 'of a', '/a', 0)], PROGRAM);
      const [elsewhere, own] = ['/b', '/a'].map((scope) => index.place('judge', NO_OPTIONS, scope));
      if (elsewhere === undefined || own === undefined) throw new Error('no places');
      expect([index.patience(elsewhere), index.patience(own)]).toEqual(['rest', 'none']);
      expect(index.decide(own).stored?.resultJson).toBe('"of a"');
      expect(index.patience(elsewhere)).toBe('none');
      expect(index.decide(elsewhere)).toMatchObject({ occurrence: 1, ordinal: 0, stored: undefined });
      const items = new ReplayIndex([launched(), result('judge', 0, 'of 1', '/pipeline:0/item:1/stage:1', 0)], PROGRAM);
      expect(items.patience(items.place('judge', NO_OPTIONS, '/pipeline:0/item:2/stage:1'))).toBe('idle');
      const unstable = new ReplayIndex([launched(), result('judge', 0, 'of a', '/call:0', 0)], PROGRAM);
      expect(storedValue(unstable, 'judge', '/call:1')).toBe('"of a"');
    });

    it('a call that was started and did not finish takes no result but its own (R-10, R-22)', () => {
      const started = result('judge', 0, '', '/a', 0);
      const { result: _, usage: _usage, attempts: _attempts, ...row } = started.row as ResultRow;
      const unfinished = { row: { ...row, type: 'started', label: 'l', phase: null, attempt: 1 } } as const;
      const index = new ReplayIndex([launched(), unfinished, result('judge', 1, 'second', '/a', 1)], PROGRAM);
      const place = index.place('judge', NO_OPTIONS, '/a');
      expect(index.patience(place)).toBe('none');
      expect(index.decide(place)).toMatchObject({ occurrence: 0, stored: undefined });
      expect(storedValue(index, 'judge', '/a')).toBe('"second"');
    });

    it.each([
      ['another script', { scriptSha256: 'bb' }],
      ['other args', { argsSha256: 'cc' }],
      ['a version that did not keep scopes', { scopes: undefined }],
    ])('rows of %s go to any call, by rising occurrence (R-22)', (_title, more) => {
      const rows = [launched(more), result('judge', 1, 'one', '', 1), result('judge', 0, 'zero', '', 0)];
      const index = new ReplayIndex([...rows, launched(), result('judge', 2, 'two', '/c', 0)], PROGRAM);
      expect(index.patience(index.place('judge', NO_OPTIONS, '/x'))).toBe('none');
      expect(storedValue(index, 'judge', '/a')).toBe('"zero"');
      expect(storedValue(index, 'judge', '/b')).toBe('"one"');
      expect(storedValue(index, 'judge', '/b')).toBeUndefined();
      expect(storedValue(index, 'judge', '/c')).toBe('"two"');
    });
  });
});
