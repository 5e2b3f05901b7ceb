import { describe, expect, it } from 'vitest';
import { excerptAt } from '../../../../runtime/script/source-excerpt.ts';

describe('an excerpt', () => {
  it.each([
    ['plain text', 'ab!c', '1 | ab!c', '  |   ^'],
    ['a tab', '\ta!', '1 |     a!', '  |      ^'],
    ['wide characters', '漢字!', '1 | 漢字!', '  |     ^'],
    ['an emoji of several code points', '👨‍👩‍👧!', '1 | 👨‍👩‍👧!', '  |   ^'],
    ['a combining accent', 'e\u0301!', '1 | e\u0301!', '  |  ^'],
    ['control characters', '\u001B[31m!', '1 | \uFFFD[31m!', '  |      ^'],
    ['a direction override', '\u202Ea!', '1 | \uFFFDa!', '  |   ^'],
  ])('has its caret below the place after %s (S-6)', (_name, line, shown, caret) => {
    expect(excerptAt(line, line.indexOf('!')).split('\n')).toEqual([shown, caret]);
  });

  it('numbers the line and indents the caret by the same width (S-6)', () => {
    const source = `${'\n'.repeat(11)}ab\ncd`;
    expect(excerptAt(source, source.indexOf('b'))).toBe('12 | ab\n   |  ^');
  });

  it('cuts a long line around the place, never inside a character (S-6)', () => {
    const source = `${'😀'.repeat(100_000)}!${'😀'.repeat(100_000)}`;
    const [line = '', caret = ''] = excerptAt(source, source.indexOf('!')).split('\n');
    expect(line.isWellFormed()).toBe(true);
    expect(line.length).toBeLessThan(120);
    expect(line).toMatch(/^1 \| ….*!.*…$/);
    expect(caret.length - 4).toBe(2 + 60);
  });
});
