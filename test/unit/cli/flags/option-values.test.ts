import { describe, expect, it } from 'vitest';
import { integerBetween, numberBetween, spanMs, wordOf } from '../../../../cli/flags/option-values.ts';

describe('option values', () => {
  it.each(['1', '16', '256', ' 7 ', '+3'])('a whole number within the bounds passes: %j (A-11)', (text) => {
    expect(integerBetween(1, 256)(text)).toBe(Number(text));
  });

  it.each(['0', '257', 'many', '', '1.5', '1e2', '0x10', 'NaN', '-1'])(
    'anything else is refused with the bounds: %j (A-11)',
    (text) => {
      expect(() => integerBetween(1, 256)(text)).toThrow('from 1 to 256');
    },
  );

  it.each(['0.1', '3', '2.5'])('seconds may have decimals: %j (C-1)', (text) => {
    expect(numberBetween(0.1, 10, 'seconds')(text)).toBe(Number(text));
  });

  it.each(['0', '11', '-1', '', 'soon'])('seconds out of bounds are refused: %j (C-1)', (text) => {
    expect(() => numberBetween(0.1, 10, 'seconds')(text)).toThrow('seconds from 0.1 to 10');
  });

  it('a wrong word is answered with the right ones and the nearest (C-10)', () => {
    expect(() => wordOf(['scripted', 'simulated'])('scriptd')).toThrow(/scripted or simulated.*Did you mean scripted/s);
    expect(() => wordOf(['scripted', 'simulated'])('nonsense')).not.toThrow(/Did you mean/);
  });

  it('a word of a later version passes, to be refused by name', () => {
    expect(wordOf(['text'], ['workbench'])('workbench')).toBe('workbench');
  });

  it.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
  ])('the span %s is %s ms', (text, ms) => {
    expect(spanMs(text)).toBe(ms);
  });

  it.each(['7', 'd', '7 days', '-1d'])('the span %j is refused', (text) => {
    expect(() => spanMs(text)).toThrow('7d');
  });
});
