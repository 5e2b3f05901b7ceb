import { describe, expect, it } from 'vitest';
import { compareRuns, isSameRun } from '../../../../runtime/replay/compare-runs.ts';
import type { StoredCall } from '../../../../runtime/replay/stored-calls.ts';

const call = (content: string, changes: Partial<StoredCall> = {}): StoredCall => ({
  key: content,
  content,
  label: content,
  scope: '',
  ordinal: 0,
  phase: null,
  promptPreview: undefined,
  resultJson: `"${content}"`,
  error: undefined,
  rows: [],
  ...changes,
});

const contents = (calls: readonly StoredCall[]): readonly string[] => calls.map(({ content }) => content);

describe('compareRuns', () => {
  it('finds nothing in equal runs, whatever the order of members in an answer', () => {
    const left = [call('a', { resultJson: '{"x":1,"y":2}' }), call('b')];
    const right = [call('a', { resultJson: '{"y":2,"x":1}' }), call('b')];
    const comparison = compareRuns({ left, right });
    expect(isSameRun(comparison)).toBe(true);
    expect(comparison.matched).toBe(2);
  });

  it('tells what only one run asked from what one place asks differently', () => {
    const left = [call('a'), call('b1', { label: 'b', scope: '/x' }), call('c')];
    const right = [call('a'), call('b2', { label: 'b', scope: '/x' }), call('d')];
    const comparison = compareRuns({ left, right });
    expect(contents(comparison.onlyLeft)).toEqual(['c']);
    expect(contents(comparison.onlyRight)).toEqual(['d']);
    expect(comparison.changed.map((pair) => [pair.left.content, pair.right.content])).toEqual([['b1', 'b2']]);
    expect(isSameRun(comparison)).toBe(false);
  });

  it('finds other answers, also where one run has none', () => {
    const left = [call('a'), call('b'), call('c', { resultJson: undefined })];
    const right = [
      call('a', { resultJson: '"other"' }),
      call('b', { resultJson: undefined }),
      call('c', { resultJson: undefined }),
    ];
    const { otherResults } = compareRuns({ left, right });
    expect(otherResults.map((pair) => pair.left.content)).toEqual(['a', 'b']);
  });

  it('pairs equal contents by their place in the script, then in order (R-22)', () => {
    const judge = (scope: string, resultJson: string) => call('judge', { key: scope, scope, resultJson });
    const left = [judge('/1', '"yes"'), judge('/2', '"no"'), judge('/3', '"maybe"')];
    const right = [judge('/2', '"no"'), judge('/1', '"yes"'), judge('/9', '"maybe"')];
    const comparison = compareRuns({ left, right });
    expect(comparison.otherResults).toEqual([]);
    expect(comparison.matched).toBe(3);
  });

  it('finds other labels', () => {
    const { relabelled } = compareRuns({ left: [call('a', { label: 'old' })], right: [call('a', { label: 'new' })] });
    expect(relabelled).toHaveLength(1);
  });

  it('names the fewest calls that explain another order', () => {
    const left = ['a', 'b', 'c', 'd', 'e'].map((name) => call(name));
    const right = ['b', 'c', 'd', 'a', 'e'].map((name) => call(name));
    expect(compareRuns({ left, right }).moved.map((pair) => pair.left.content)).toEqual(['a']);
    expect(compareRuns({ left, right: [...left].reverse() }).moved).toHaveLength(4);
  });
});
