import { describe, expect, it } from 'vitest';
import { type BoundedLine, boundedLines } from '../../../../../agents/tools/files/bounded-lines.ts';

async function linesOf(pieces: Iterable<string>, maxCharacters = 5): Promise<BoundedLine[]> {
  const lines: BoundedLine[] = [];
  const given = (async function* () {
    yield* pieces;
  })();
  for await (const line of boundedLines(given, maxCharacters)) lines.push(line);
  return lines;
}

describe('lines of bounded length', () => {
  it.each([
    [['one\ntwo\r\n\nfour'], ['one', 'two', '', 'four']],
    [
      ['o', 'ne\r', '\nt', 'wo', '\n'],
      ['one', 'two'],
    ],
    [['a\rb\r'], ['a\rb']],
    [
      ['\n', '\r\n'],
      ['', ''],
    ],
    [[], []],
  ])('are those of %j', async (pieces, lines) => {
    expect(await linesOf(pieces)).toEqual(lines.map((text) => ({ text, length: text.length })));
  });

  it('keep the beginning of a line that is longer than the longest text (A-25)', async () => {
    const mebibyte = 'x'.repeat(1024 * 1024);
    const pieces = (function* () {
      for (let count = 0; count < 600; count++) yield mebibyte;
      yield '\nshort';
    })();
    expect(await linesOf(pieces)).toEqual([
      { text: 'xxxxx', length: 600 * 1024 * 1024 },
      { text: 'short', length: 5 },
    ]);
  });
});
