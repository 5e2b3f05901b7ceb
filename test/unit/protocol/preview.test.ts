import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countCharacters, preview, previewWithNote } from '../../../protocol/preview.ts';

const ESCAPE = String.fromCharCode(0x1b);
const family = '\u{1F468}\u200d\u{1F469}\u200d\u{1F466}';

describe('preview', () => {
  it('returns short plain text as it is', () => {
    expect(preview('')).toBe('');
    expect(preview('LINE 1 [x] ~')).toBe('LINE 1 [x] ~');
    expect(preview('x'.repeat(400))).toBe('x'.repeat(400));
  });

  it('keeps at most so many characters, counted as code points (E-5)', () => {
    expect(preview('x'.repeat(401))).toBe('x'.repeat(400));
    expect(preview('\u{1F600}'.repeat(900))).toBe('\u{1F600}'.repeat(400));
    expect(preview('é'.repeat(900), 200)).toBe('é'.repeat(200));
  });

  it('removes control characters and terminal sequences, and turns line breaks into spaces (E-5)', () => {
    expect(preview(`x${ESCAPE}[31m\u0007 red ${ESCAPE}]0;title\u0007!`)).toBe('x red !');
    expect(preview('a\r\n\tb\u2028c\u0000\u009b')).toBe('a b c');
  });

  it('cuts between graphemes: no emoji loses a part', () => {
    expect(preview(family.repeat(100), 8)).toBe(family);
    expect(preview(`${'a'.repeat(9)}e\u0301`, 10)).toBe('a'.repeat(9));
    expect(preview(`${'\u200d'.repeat(300)}x`, 10).endsWith('\u200d')).toBe(false);
  });

  it('replaces half a surrogate pair of the text', () => {
    expect(preview('a\ud800b')).toBe('a\ufffdb');
  });

  it('finds text behind many control characters', () => {
    expect(preview(`${'\u0000'.repeat(50_000)}found`, 10)).toBe('found');
  });

  it('is whole, clean and bounded for any text (E-5)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.nat({ max: 120 }), (text, characters) => {
        const short = preview(text, characters);
        expect(short.isWellFormed()).toBe(true);
        expect(short).not.toMatch(/\p{Cc}/u);
        expect(countCharacters(short)).toBeLessThanOrEqual(characters);
        expect(preview(short, characters)).toBe(short);
      }),
    );
  });
});

describe('previewWithNote', () => {
  it('says how many characters were cut, within the bound (S-29)', () => {
    const short = previewWithNote('é\u{1F600}'.repeat(500), 100);
    const [, kept, cut] = /^(.*)… \[\+(\d+) characters\]$/u.exec(short) ?? [];
    expect(countCharacters(kept ?? '') + Number(cut)).toBe(1000);
    expect(countCharacters(short)).toBeLessThanOrEqual(100);
  });

  it('says nothing of a text that fits', () => {
    expect(previewWithNote('short')).toBe('short');
  });
});
