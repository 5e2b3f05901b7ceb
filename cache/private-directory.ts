import { dirname } from 'node:path';
import { DIRECTORY_MODE, type Disk, errnoOf } from './disk.ts';
import { unwritableError } from './unwritable-error.ts';

/**
 * Makes a directory that only its owner may enter, and the missing ones above it, whatever the umask. Directories that
 * exist keep their modes.
 *
 * @throws STATE_UNWRITABLE, naming the path that is in the way.
 */
export async function makePrivateDirectory(disk: Disk, path: string): Promise<void> {
  try {
    await makeOne(disk, path);
  } catch (error) {
    const parent = dirname(path);
    if (errnoOf(error) === 'ENOENT' && parent !== path) {
      // Somebody else may make the parent at the same time.
      if (!(await exists(disk, parent))) await makePrivateDirectory(disk, parent);
      await makeOne(disk, path).catch((again) => requireDirectory(disk, path, again));
    } else {
      await requireDirectory(disk, path, error);
    }
  }
}

/** Makes a directory that must not exist yet. Errors are those of the file system. */
export async function makeOne(disk: Disk, path: string): Promise<void> {
  await disk.mkdir(path, { mode: DIRECTORY_MODE });
  await disk.chmod(path, DIRECTORY_MODE);
}

/** A directory that is there already will do; otherwise the error names what is in the way. */
async function requireDirectory(disk: Disk, path: string, cause: unknown): Promise<void> {
  const stats = await disk.stat(path).catch(() => undefined);
  if (stats?.isDirectory() === true && errnoOf(cause) === 'EEXIST') {
    return;
  }
  throw unwritableError(await firstNonDirectory(disk, path), cause);
}

/** The path itself, or the one above it that is a file. */
async function firstNonDirectory(disk: Disk, path: string): Promise<string> {
  for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
    const stats = await disk.stat(above).catch(() => undefined);
    if (stats !== undefined) {
      return stats.isDirectory() ? path : above;
    }
  }
  return path;
}

function exists(disk: Disk, path: string): Promise<boolean> {
  return disk.stat(path).then(
    () => true,
    (error) => errnoOf(error) !== 'ENOENT',
  );
}
