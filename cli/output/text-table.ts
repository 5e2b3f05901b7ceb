import { stripVTControlCharacters } from 'node:util';

/** Lays rows out in columns, two blanks apart. Control characters and marks that reorder text are removed, since their text is not ours. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map(cleanCell));
  const widths = clean.reduce<number[]>((all, row) => row.map((cell, i) => Math.max(all[i] ?? 0, cell.length)), []);
  const line = (row: readonly string[]): string => row.map((cell, i) => pad(cell, i, row, widths)).join('  ');
  return clean.map((row) => `${line(row).trimEnd()}\n`).join('');
}

function pad(cell: string, column: number, row: readonly string[], widths: readonly number[]): string {
  return column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0);
}

function cleanCell(text: string): string {
  const plain = stripVTControlCharacters(text).replace(/[\u202a-\u202e\u2066-\u2069]/g, '');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  return plain.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}
