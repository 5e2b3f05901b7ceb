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
    switch (errnoOf(error)) {
      case 'ENOENT':
        if (dirname(path) === path) {
          throw unwritableError(path, error);
        }
        await makePrivateDirectory(disk, dirname(path));
        return makePrivateDirectory(disk, path);
      case 'EEXIST':
        return requireDirectory(disk, path, error);
      case 'ENOTDIR':
        await requireDirectory(disk, dirname(path), error);
        throw unwritableError(path, error);
      default:
        throw unwritableError(path, error);
    }
  }
}

/** Makes a directory that must not exist yet. Errors are those of the file system. */
export async function makeOne(disk: Disk, path: string): Promise<void> {
  await disk.mkdir(path, { mode: DIRECTORY_MODE });
  await disk.chmod(path, DIRECTORY_MODE);
}

async function requireDirectory(disk: Disk, path: string, cause: unknown): Promise<void> {
  const isDirectory = await disk.stat(path).then(
    (stats) => stats.isDirectory(),
    () => undefined,
  );
  if (isDirectory === false) {
    throw unwritableError(path, cause);
  }
  if (isDirectory === undefined && dirname(path) !== path) {
    await requireDirectory(disk, dirname(path), cause);
    throw unwritableError(path, cause);
  }
}
