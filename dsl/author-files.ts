import { authorColumn, withoutInsertions } from './inserted-text.ts';
import { functionSource } from './primordials.ts';

/** A compiled text of an author. */
interface AuthorFile {
  readonly fileName: string;
  /** Its source is the text that the engine counts lines and columns in. */
  readonly program: object;
  lines: readonly string[] | undefined;
}

/** A place in the author's file, from 1. */
export interface AuthorPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** By the name that the engine was given, which tells files of one name apart. */
const files = new Map<unknown, AuthorFile>();
const fileNames = new Set<unknown>();

export function addAuthorFile(scriptName: string, fileName: string, program: object): void {
  files.set(scriptName, { fileName, program, lines: undefined });
  fileNames.add(fileName);
}

/** Whether frames of a file of this name are an author's. */
export function isAuthorFile(fileName: unknown): boolean {
  return fileNames.has(fileName);
}

/** Where a place that the engine tells lies in the author's file; undefined when it is not in one. */
export function authorPlace(scriptName: unknown, line: unknown, column: unknown): AuthorPlace | undefined {
  const file = files.get(scriptName);
  if (file === undefined || typeof line !== 'number' || typeof column !== 'number') return undefined;
  file.lines ??= functionSource(file.program).split('\n');
  // The wrapper's own line is number 0.
  const text = file.lines[line];
  return { file: file.fileName, line, column: text === undefined ? column : authorColumn(text, column) };
}

/** The source of a function as its author wrote it. */
export function authorSource(of: unknown): string {
  return withoutInsertions(functionSource(of as object));
}
