/**
 * What the runtime puts into an author's text to keep scopes (`runtime/script/track-scopes.ts`) stands between two pairs of
 * white space that nobody types, so that places and sources can be told as the author wrote them (S-8).
 */
const OPEN = '\v\f';
const CLOSE = '\f\v';
/** The source of a function may end within one. */
const INSERTED = /\v\f[^\v]*(?:\f\v|$)/g;

/** Marks a text as not the author's. It holds no line end. */
export function asInserted(text: string): string {
  return OPEN + text + CLOSE;
}

/** The text as the author wrote it. */
export function withoutInsertions(text: string): string {
  return text.includes(OPEN) ? text.replace(INSERTED, '') : text;
}

/** The column, from 1, that a column of a line has in the author's text. */
export function authorColumn(line: string, column: number): number {
  return column - 1 > line.length ? column : withoutInsertions(line.slice(0, column - 1)).length + 1;
}
