import { dirname } from 'node:path';
import { type Disk, type DiskFile, FILE_MODE, syncDirectory, writeWhole } from './disk.ts';
import { unwritableError } from './unwritable-error.ts';

let replacements = 0;

/**
 * Replaces a file by rename, so that a reader or a crash sees the old content or the new one, whole. Data and name are
 * durable when it resolves. (The packages for this were passed over: the widest used one renames after a write that the
 * system cut short.)
 *
 * @throws STATE_UNWRITABLE; the old file is then untouched.
 */
export async function replaceFile(
  disk: Disk,
  path: string,
  content: string | ((file: DiskFile) => Promise<void>),
): Promise<void> {
  replacements += 1;
  const temporary = `${path}.${Math.floor(performance.timeOrigin)}-${replacements}.tmp`;
  try {
    const file = await disk.open(temporary, 'wx', FILE_MODE);
    try {
      await file.chmod(FILE_MODE);
      await (typeof content === 'string' ? writeWhole(file, Buffer.from(content)) : content(file));
      await file.sync();
    } finally {
      await file.close();
    }
    await disk.rename(temporary, path);
    await syncDirectory(disk, dirname(path));
  } catch (error) {
    await disk.unlink(temporary).catch(() => undefined);
    throw unwritableError(path, error);
  }
}
