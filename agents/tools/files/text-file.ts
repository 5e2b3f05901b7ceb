import { readFile, stat } from 'node:fs/promises';
import { looksBinary } from './binary-probe.ts';
import { type WorkspacePath, WorkspacePathError } from './workspace.ts';

/** Larger files are no work for a model: a command changes them. */
const MAX_BYTES = 10 * 1024 * 1024;

/** The state of a file by which a later change shows. */
export type FileStamp = string;

export interface TextFile {
  readonly text: string;
  readonly stamp: FileStamp;
}

/** Gives a file's stamp; undefined when there is none. */
export async function fileStamp(file: string): Promise<FileStamp | undefined> {
  const facts = await stat(file).catch(() => undefined);
  return facts === undefined ? undefined : `${facts.ino}:${facts.size}:${facts.mtimeMs}:${facts.ctimeMs}`;
}

/**
 * Reads a text that will be written back, byte for byte where it does not change.
 *
 * @throws WorkspacePathError for what cannot be: a directory, a device, a binary file, one that is no UTF-8, read-only, too large
 */
export async function readTextFile({ absolute, relative }: WorkspacePath): Promise<TextFile | undefined> {
  const facts = await stat(absolute).catch(() => undefined);
  if (facts === undefined) return undefined;
  if (facts.isDirectory()) throw new WorkspacePathError(`${relative} is a directory.`);
  if (!facts.isFile()) throw new WorkspacePathError(`${relative} is no regular file.`);
  if ((facts.mode & 0o222) === 0) throw new WorkspacePathError(`${relative} is read-only.`);
  if (facts.size > MAX_BYTES) {
    throw new WorkspacePathError(`${relative} has ${facts.size} bytes; files above ${MAX_BYTES} cannot be edited.`);
  }
  const stamp = await fileStamp(absolute);
  const bytes = await readFile(absolute);
  if (looksBinary(bytes)) throw new WorkspacePathError(`${relative} is a binary file of ${bytes.length} bytes.`);
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), stamp: stamp ?? '' };
  } catch {
    throw new WorkspacePathError(`${relative} is not in UTF-8, and writing it back would damage it.`);
  }
}
