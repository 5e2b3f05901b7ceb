import { writeFile, writeSync } from 'node:fs';
import * as promises from 'node:fs/promises';
import { promisify } from 'node:util';

/** An open file. */
export type DiskFile = promises.FileHandle;

/** What the store needs of a file system, so that tests can make one fail. Errors are those of `node:fs`. */
export type Disk = Pick<
  typeof promises,
  'open' | 'mkdir' | 'rename' | 'link' | 'unlink' | 'readFile' | 'readdir' | 'stat' | 'chmod' | 'utimes'
> & {
  /** Opens, writes and closes; `flag` is `w` or `a`. */
  writeFile(path: string, text: string, options: { readonly flag: 'w' | 'a'; readonly mode: number }): Promise<void>;
  writeSync(fd: number, data: Uint8Array, offset: number, length: number, position: number): number;
};

/** The file system of this machine. (The callback form of `writeFile` costs a third of the time of the other one.) */
export const nodeDisk: Disk = { ...promises, writeFile: promisify(writeFile), writeSync };

/** Mode of every file that the store makes (C-9). */
export const FILE_MODE = 0o600;

/** Mode of every directory that the store makes (C-9). */
export const DIRECTORY_MODE = 0o700;

/** The `code` of a file system error, or undefined. */
export function errnoOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Writes all of `data`, also where the system takes it in pieces; at `position`, else where the file stands. */
export async function writeWhole(file: DiskFile, data: Uint8Array, position?: number): Promise<void> {
  let written = 0;
  while (written < data.length) {
    const at = position === undefined ? null : position + written;
    written += (await file.write(data, written, data.length - written, at)).bytesWritten;
  }
}

/** Makes the names in a directory durable. File systems that cannot do it are left alone. */
export async function syncDirectory(disk: Disk, path: string): Promise<void> {
  const directory = await disk.open(path, 'r');
  try {
    await directory.sync();
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EISDIR', 'EPERM'].includes(errnoOf(error) ?? '')) {
      throw error;
    }
  } finally {
    await directory.close();
  }
}
