export interface SourcePlace {
  readonly line: number;
  readonly column: number;
}

/** Line and column of an offset, both from 1; columns count UTF-16 units, as an engine's stacks do. */
export function placeAt(source: string, offset: number): SourcePlace {
  const before = source.slice(0, offset);
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') };
}
