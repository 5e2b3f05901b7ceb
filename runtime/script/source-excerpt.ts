import { displayWidth } from './display-width.ts';
import { printable } from './printable.ts';
import { placeAt } from './source-place.ts';

/** UTF-16 units shown before and after the caret when a line is too long to show whole. */
const UNITS_BEFORE = 60;
const UNITS_AFTER = 40;

/** The line of an offset, numbered, with a caret below it. A long line is cut around the caret, never inside a surrogate pair. */
export function excerptAt(source: string, offset: number): string {
  const { line, column } = placeAt(source, offset);
  const start = offset - (column - 1);
  const end = source.indexOf('\n', offset);
  const { before, after } = cutAround(source.slice(start, offset), source.slice(offset, end < 0 ? undefined : end));
  const shownBefore = printable(before);
  const gutter = String(line);
  return [
    `${gutter} | ${shownBefore}${printable(after)}`.trimEnd(),
    `${' '.repeat(gutter.length)} | ${' '.repeat(displayWidth(shownBefore))}^`,
  ].join('\n');
}

function cutAround(before: string, after: string): { readonly before: string; readonly after: string } {
  const roomBefore = UNITS_BEFORE + Math.max(0, UNITS_AFTER - after.length);
  const roomAfter = UNITS_AFTER + Math.max(0, UNITS_BEFORE - before.length);
  return {
    before: before.length <= roomBefore ? before : `…${before.slice(-roomBefore).replace(/^[\uDC00-\uDFFF]/, '')}`,
    after: after.length <= roomAfter ? after : `${after.slice(0, roomAfter).replace(/[\uD800-\uDBFF]$/, '')}…`,
  };
}
