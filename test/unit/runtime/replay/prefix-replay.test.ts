import { describe, expect, it } from 'vitest';
import { callKey } from '../../../../runtime/calls/call-key.ts';
import type { StoredRow } from '../../../../runtime/ports.ts';
import { PrefixReplay } from '../../../../runtime/replay/prefix-replay.ts';
import { ReplayIndex } from '../../../../runtime/replay/replay-index.ts';

function result(prompt: string, value: string): StoredRow {
  const key = callKey(prompt, '{}', 0);
  return {
    row: {
      type: 'result',
      key,
      agentId: `a${key.slice(3, 19)}`,
      scope: '',
      result: undefined,
      usage: { input_tokens: 1, output_tokens: 1, tool_uses: 0 },
      attempts: 0,
      at: 0,
    },
    resultJson: JSON.stringify(value),
  };
}

function replayOf(rows: readonly StoredRow[]) {
  const told: number[] = [];
  const replay = new PrefixReplay(new ReplayIndex(rows), (finished) => told.push(finished));
  const meet = (prompt: string) => replay.decide(replay.place(prompt, '{}', ''));
  return { meet, told };
}

describe('PrefixReplay', () => {
  it('answers up to the first call without a result, and none after it (R-9)', () => {
    const { meet, told } = replayOf([result('a', 'A'), result('c', 'C'), result('d', 'D')]);
    expect(meet('a').stored?.resultJson).toBe('"A"');
    expect(told).toEqual([]);
    expect(meet('b').stored).toBeUndefined();
    expect(told).toEqual([2]);
    expect([meet('c').stored, meet('d').stored]).toEqual([undefined, undefined]);
    expect(told).toEqual([2]);
  });

  it('gives calls that run again the keys they had (R-1, R-9)', () => {
    const { meet } = replayOf([result('c', 'C')]);
    meet('b');
    expect(meet('c').key).toBe(callKey('c', '{}', 0));
    expect(meet('c').key).toBe(callKey('c', '{}', 1));
  });

  it('lets the later of two results of one call count (R-9)', () => {
    const { meet } = replayOf([result('a', 'old'), result('a', 'new')]);
    expect(meet('a').stored?.resultJson).toBe('"new"');
  });
});
