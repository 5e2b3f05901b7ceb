import { describe, expect, it } from 'vitest';
import { ImportedResults } from '../../../../runtime/replay/imported-results.ts';

const call = (resultJson: string, label?: string) => ({ resultJson, ...(label === undefined ? {} : { label }) });

describe('ImportedResults', () => {
  it('deals by order where labels are not known on both sides (R-20)', () => {
    const results = new ImportedResults([call('1', 'a'), call('2')]);
    expect([results.take(1, undefined), results.take(2, 'b'), results.take(3, undefined)]).toEqual([
      '1',
      '2',
      undefined,
    ]);
  });

  it('a call whose place holds another label takes the first left of its own (R-20)', () => {
    const results = new ImportedResults([call('1', 'a'), call('2', 'b'), call('3', 'a')]);
    expect([results.take(1, 'b'), results.take(2, 'a'), results.take(3, 'a')]).toEqual(['2', '1', '3']);
  });

  it('deals each answer once, and none of another label (R-20)', () => {
    const results = new ImportedResults([call('1', 'a'), call('2', 'b')]);
    expect([results.take(2, 'a'), results.take(1, 'a'), results.take(1, 'c')]).toEqual(['1', undefined, undefined]);
  });
});
