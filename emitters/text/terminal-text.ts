import { stripVTControlCharacters } from 'node:util';
import { preview } from '../../protocol/preview.ts';

/** Control characters but tab and line feed, and the marks that reorder text on screen. */
const UNSAFE = /[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu;
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;
const WIDE =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60]/u;
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** Frees a text of several lines from everything that could steer a terminal (E-17). */
export function toTerminalText(text: string): string {
  return stripVTControlCharacters(text).replace(UNSAFE, '').toWellFormed();
}

/** The same for one line, shortened to so many characters. */
export function toTerminalLine(text: string, maxCharacters: number): string {
  return preview(stripVTControlCharacters(text).replace(REORDERING, ''), maxCharacters);
}

/** Cuts a line without colours to the columns of a terminal; wide characters take two. */
export function fitColumns(line: string, columns: number): string {
  if (line.length * 2 <= columns) return line;
  let used = 0;
  let units = 0;
  let unitsWithEllipsis = 0;
  for (const character of line) {
    used += columnsOf(character);
    if (used > columns) return `${line.slice(0, unitsWithEllipsis)}…`;
    units += character.length;
    if (used <= columns - 1) unitsWithEllipsis = units;
  }
  return line;
}

function columnsOf(character: string): number {
  if (character <= '\u007e') return 1;
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
