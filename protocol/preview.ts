/** Characters of a preview in an event. Source: spec E-5. */
export const PREVIEW_CHARACTERS = 400;

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
const ESCAPE = String.fromCharCode(0x1b);
/** Escape sequences of terminals: CSI with its parameters, OSC with its text, and the two-character ones. ECMA-48. */
const TERMINAL_SEQUENCE = new RegExp(`${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\p{Cc}]*|[@-Z\\\\^_])`, 'gu');
const LINE_BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
const CONTROL = /\p{Cc}/gu;
const ZERO_WIDTH_JOINER = 0x200d;
/** Code units looked at on both sides of a cut, to find out whether it lies within a grapheme. */
const CUT_CONTEXT = 64;

let segmenter: Intl.Segmenter | undefined;

/**
 * Shortens a text to its first characters (code points), for people and for logs.
 *
 * Contract:
 * - Holds no control characters: line breaks and tabs become one space, terminal sequences go as a whole.
 * - Is well formed: half a surrogate pair of the text becomes U+FFFD, and no cut makes one.
 * - A cut lies between graphemes, so that no emoji loses a part.
 * - Short ASCII text is returned as it is, at the cost of one scan.
 *
 * @defaultValue `maxCharacters` 400
 */
export function preview(text: string, maxCharacters: number = PREVIEW_CHARACTERS): string {
  if (text.length <= maxCharacters) {
    if (PRINTABLE_ASCII.test(text)) return text;
  } else if (PRINTABLE_ASCII.test(text.slice(0, maxCharacters + 1))) {
    return text.slice(0, maxCharacters);
  }
  return cutReadable(text, maxCharacters);
}

/**
 * Like {@link preview}, and says how many characters are missing. The note counts towards `maxCharacters`. Source: spec S-29.
 *
 * @example previewWithNote('a'.repeat(500)) // 'aaa…aaa… [+121 characters]'
 */
export function previewWithNote(text: string, maxCharacters: number = PREVIEW_CHARACTERS): string {
  const whole = preview(text, maxCharacters);
  const total = countCharacters(text);
  if (total <= maxCharacters) return whole;
  const longestNote = note(total).length;
  const kept = preview(text, Math.max(0, maxCharacters - longestNote));
  return kept + note(total - countCharacters(kept));
}

const note = (characters: number): string => `… [+${characters} characters]`;

/** Counts code points. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if (isHighSurrogate(text.charCodeAt(at)) && isLowSurrogate(text.charCodeAt(at + 1))) {
      count--;
      at++;
    }
  }
  return count;
}

function cutReadable(text: string, maxCharacters: number): string {
  // A window keeps the cost bounded for huge texts; it grows only when most of it was control characters.
  for (let windowUnits = maxCharacters * 4 + CUT_CONTEXT; ; windowUnits *= 4) {
    const whole = windowUnits >= text.length;
    const clean = makeReadable(whole ? text : text.slice(0, endOfCharacter(text, windowUnits)));
    const cutAt = unitsOf(clean, maxCharacters);
    if (whole && cutAt === clean.length) return clean;
    if (whole || clean.length - cutAt >= CUT_CONTEXT) return clean.slice(0, graphemeBoundary(clean, cutAt));
  }
}

function makeReadable(text: string): string {
  return text.replace(TERMINAL_SEQUENCE, '').replace(LINE_BREAKS, ' ').replace(CONTROL, '').toWellFormed();
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

const endOfCharacter = (text: string, units: number): number =>
  isHighSurrogate(text.charCodeAt(units - 1)) ? units - 1 : units;

/** Code units that the first `characters` code points of a well-formed text take. */
function unitsOf(text: string, characters: number): number {
  let at = 0;
  for (let left = characters; left > 0 && at < text.length; left--) at += isHighSurrogate(text.charCodeAt(at)) ? 2 : 1;
  return at;
}

function graphemeBoundary(text: string, cutAt: number): number {
  const start = Math.max(0, cutAt - CUT_CONTEXT);
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  const found = segmenter.segment(text.slice(start, cutAt + CUT_CONTEXT)).containing(cutAt - start);
  if (found !== undefined && found.index > 0) return start + found.index;
  // One grapheme longer than the context: cut it, though never after a joiner, which would join what follows the preview.
  let at = endOfCharacter(text, cutAt);
  while (at > 0 && text.charCodeAt(at - 1) === ZERO_WIDTH_JOINER) at--;
  return at;
}
