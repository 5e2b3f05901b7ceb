import { isAuthorFile } from './author-files.ts';
import { originOf } from './host-errors.ts';
import { readable } from './inspect.ts';
import type { ErrorData } from './wire.ts';

const TEXT_CHARACTERS = 100_000;
const CAUSES = 5;

/** Describes anything that was thrown (S-30). Never throws, whatever getters the value has. */
export function toErrorData(thrown: unknown, depth = 0): ErrorData {
  try {
    return isError(thrown) ? describeError(thrown, depth) : { name: typeof thrown, message: cut(readable(thrown)) };
  } catch {
    return { name: 'Error', message: 'an error that cannot be read' };
  }
}

function isError(value: unknown): value is Error {
  return value instanceof Error;
}

function describeError(error: Error, depth: number): ErrorData {
  const code = originOf(error)?.code;
  const stack: unknown = error.stack;
  const cause: unknown = depth < CAUSES ? error.cause : undefined;
  return {
    name: cut(String(error.name)),
    message: cut(String(error.message)),
    ...(code === undefined ? {} : { code }),
    ...(typeof stack === 'string' ? { ...firstPlace(stack), stack: cut(stack) } : {}),
    ...(cause === undefined ? {} : { cause: toErrorData(cause, depth + 1) }),
  };
}

/** The first frame of the author in a stack. */
export function firstPlace(stack: string): { file?: string; line?: number; column?: number } {
  const frames = /^ {4}at (?:.*\()?(.+?):(\d+):(\d+)\)?$/gm;
  for (let found = frames.exec(stack); found !== null; found = frames.exec(stack)) {
    const [, file, line, column] = found;
    if (isAuthorFile(file)) return { file: file as string, line: Number(line), column: Number(column) };
  }
  return {};
}

function cut(text: string): string {
  return (text.length > TEXT_CHARACTERS ? `${text.slice(0, TEXT_CHARACTERS)}…` : text).toWellFormed();
}
