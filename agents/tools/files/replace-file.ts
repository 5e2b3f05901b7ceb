import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type FileStamp, fileStamp } from './text-file.ts';
import { WorkspacePathError } from './workspace.ts';

/** Where a file that replaces another waits until it is whole. */
const TEMPORARY_PREFIX = '.wf-write-';

/**
 * Puts a text in place of a file, or makes the file and its directories.
 *
 * Contract: other readers see the old file or the new one, whole. After an abort or a failure the old one stands and nothing
 * is left beside it. Mode and owner are kept; other names of a hard link keep the old text.
 *
 * @param file real path, as {@link resolveForWriting} gives it
 * @param known the file that is to be replaced; undefined where there was none
 * @throws WorkspacePathError when it is another one by now
 */
export async function replaceFile(
  file: string,
  text: string,
  known: FileStamp | undefined,
  signal: AbortSignal,
): Promise<void> {
  const directory = path.dirname(file);
  signal.throwIfAborted();
  await mkdir(directory, { recursive: true });
  await refuseMoved(directory);
  const old = await stat(file).catch(() => undefined);
  const temporary = path.join(directory, `${TEMPORARY_PREFIX}${randomBytes(8).toString('hex')}`);
  try {
    await writeNew(temporary, text, old === undefined ? 0o666 : 0o600, signal);
    if (old !== undefined) {
      await chown(temporary, old.uid, old.gid).catch(() => {}); // only root may give files away
      await chmod(temporary, old.mode & 0o7777); // after it, since a new owner takes bits away
    }
    await refuseMoved(directory);
    signal.throwIfAborted();
    if ((await fileStamp(file)) !== known)
      throw new WorkspacePathError(`${file} was changed meanwhile by somebody else. Read it again.`);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeNew(file: string, text: string, mode: number, signal: AbortSignal): Promise<void> {
  const handle = await open(file, 'wx', mode);
  try {
    await handle.writeFile(text, { signal });
  } finally {
    await handle.close();
  }
}

/** A directory that a command has swapped for a link meanwhile would lead the write out of the working directory. */
async function refuseMoved(directory: string): Promise<void> {
  if ((await realpath(directory)) === directory) return;
  throw new WorkspacePathError(`${directory} was replaced by a link while the file was being written.`);
}
