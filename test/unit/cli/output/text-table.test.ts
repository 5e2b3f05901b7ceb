import { describe, expect, it } from 'vitest';
import { ago } from '../../../../cli/output/ago.ts';
import { textTable } from '../../../../cli/output/text-table.ts';

describe('textTable', () => {
  it('lines columns up and leaves no blanks at the end', () => {
    expect(
      textTable([
        ['a', 'long', 'x'],
        ['bbb', 'c', 'y'],
      ]),
    ).toBe('a    long  x\nbbb  c     y\n');
    expect(textTable([['a', '']])).toBe('a\n');
    expect(textTable([])).toBe('');
  });

  it('text of scripts cannot steer the terminal or break the table (E-17)', () => {
    expect(textTable([['a\u001b[31mred\u001b[0m', 'x\ny']])).toBe('ared  x y\n');
    expect(textTable([['a\u202elive\u2066', 'b']])).toBe('alive  b\n');
  });
});

describe('ago', () => {
  it.each([
    [500, 'just now'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [7_200_000, '2 h ago'],
    [172_800_000, '2 d ago'],
  ])('%s ms are "%s"', (passedMs, text) => {
    expect(ago(1_000_000_000, 1_000_000_000 + passedMs)).toBe(text);
  });
});
