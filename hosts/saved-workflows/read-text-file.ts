import { open } from 'node:fs/promises';
import { WorkflowError } from '../../protocol/workflow-error.ts';

/** 524,288 characters (S-1), each of at most 3 bytes a UTF-16 unit, and a byte order mark. */
const MAX_SCRIPT_BYTES = 524_288 * 3 + 3;

/**
 * Reads a script, unless it is far too large to be one.
 *
 * @throws SCRIPT_TOO_LARGE, and what {@link readTextFile} throws
 */
export function readScriptFile(path: string): Promise<string> {
  return readTextFile(path, 'the script', MAX_SCRIPT_BYTES);
}

/**
 * Reads a text file. `what` names it in errors, for example `the script`.
 *
 * @throws FILE_MISSING, FILE_UNREADABLE (a directory, no permission, not UTF-8 text)
 */
export async function readTextFile(path: string, what: string, maxBytes = Number.POSITIVE_INFINITY): Promise<string> {
  const bytes = await readBytes(path, what, maxBytes);
  return decodeText(bytes, path, what);
}

async function readBytes(path: string, what: string, maxBytes: number): Promise<Buffer> {
  try {
    await using file = await open(path, 'r');
    const stats = await file.stat();
    if (stats.isDirectory()) {
      throw new WorkflowError('FILE_UNREADABLE', `${what} ${path} is a directory; name a file in it`);
    }
    if (stats.size > maxBytes) {
      throw new WorkflowError(
        'SCRIPT_TOO_LARGE',
        `${what} ${path} has ${stats.size.toLocaleString('en-US')} bytes; a script has at most 524,288 characters. ` +
          'Pass data with --args @file.json instead of writing it into the script',
      );
    }
    return await file.readFile();
  } catch (error) {
    throw toFileError(error, path, what);
  }
}

/** Decodes UTF-8, refusing what is not text. */
export function decodeText(bytes: Uint8Array, path: string, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new WorkflowError('FILE_UNREADABLE', `${what} ${path} is not UTF-8 text; save it as UTF-8`, { cause });
  }
}

/** Turns an error of the file system into one for a person; passes any other on. */
export function toFileError(error: unknown, path: string, what: string): unknown {
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case undefined:
      return error;
    case 'ENOENT':
    case 'ENOTDIR':
      return new WorkflowError('FILE_MISSING', `${what} ${path} does not exist`, { cause: error });
    case 'EISDIR':
      return new WorkflowError('FILE_UNREADABLE', `${what} ${path} is a directory; name a file in it`, {
        cause: error,
      });
    case 'EACCES':
    case 'EPERM':
      return new WorkflowError('FILE_UNREADABLE', `${what} ${path} may not be read; check its permissions`, {
        cause: error,
      });
    case 'SCRIPT_TOO_LARGE':
    case 'FILE_UNREADABLE':
      return error;
    default:
      return isErrno(error)
        ? new WorkflowError('FILE_UNREADABLE', `${what} ${path} cannot be read: ${error.message}`, { cause: error })
        : error;
  }
}

function isErrno(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';
}
