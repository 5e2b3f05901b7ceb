const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const WIDE =
  /^(?:\p{Emoji_Presentation}|.\uFE0F|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303E\uFF01-\uFF60\uFFE0-\uFFE6])/u;

/** Columns that a text takes in a terminal: 2 for wide characters and emoji, 0 for combining ones. Source: Unicode UAX #11. */
export function displayWidth(text: string): number {
  let width = 0;
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}
