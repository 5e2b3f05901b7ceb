import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineTooLong, splitLines } from '../../../../runtime/sandbox/split-lines.ts';

function split(bytes: Buffer, cuts: readonly number[], maxBytes = 1000): string[] {
  const lines: string[] = [];
  const splitter = splitLines(maxBytes, (line) => lines.push(line));
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (let at = 1; at < places.length; at++) splitter.take(bytes.subarray(places[at - 1], places[at]));
  return lines;
}

describe('lines put together from chunks', () => {
  it('are the same however the bytes are cut, inside a character too', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat()), (texts, cuts) => {
        const lines = texts.map((text) => text.replaceAll('\n', ' '));
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        expect(split(bytes, cuts)).toEqual(lines);
      }),
    );
  });

  it('may not grow beyond the limit, and an unfinished one is kept back (S-31)', () => {
    expect(split(Buffer.from(`short\n${'x'.repeat(1000)}`), [3])).toEqual(['short']);
    expect(() => split(Buffer.from('x'.repeat(1001)), [500])).toThrow(LineTooLong);
  });
});
