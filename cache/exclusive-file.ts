import { type Disk, type DiskFile, errnoOf, FILE_MODE, writeWhole } from './disk.ts';

export interface ExclusiveFile {
  readonly path: string;
  readonly content: string;
  /** Modification time that it gets; epoch ms. */
  readonly mtimeMs: number;
  /** Tells the temporary files of rivals apart. */
  readonly randomHex: string;
}

/**
 * Makes a file with its content at one stroke, durably. False when it exists, so that of many one makes it. Where hard links
 * are missing the file is empty for a moment. Errors are those of the file system.
 */
export async function makeExclusively(disk: Disk, file: ExclusiveFile): Promise<boolean> {
  const temporary = `${file.path}.${file.randomHex}.tmp`;
  await writeNew(disk, temporary, file);
  try {
    await disk.link(temporary, file.path);
    return true;
  } catch (error) {
    switch (errnoOf(error)) {
      case 'EEXIST':
      case 'ENOENT': // Whoever holds the run has swept the temporary file away.
        return false;
      case 'EPERM':
      case 'ENOTSUP':
      case 'ENOSYS':
        return await writeUnlessThere(disk, file);
      default:
        throw error;
    }
  } finally {
    await disk.unlink(temporary).catch(() => undefined);
  }
}

async function writeUnlessThere(disk: Disk, file: ExclusiveFile): Promise<boolean> {
  try {
    await writeNew(disk, file.path, file);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function writeNew(disk: Disk, path: string, { content, mtimeMs }: ExclusiveFile): Promise<void> {
  const file: DiskFile = await disk.open(path, 'wx', FILE_MODE);
  try {
    await file.chmod(FILE_MODE);
    await writeWhole(file, Buffer.from(content));
    await file.utimes(mtimeMs / 1000, mtimeMs / 1000);
    await file.sync();
  } finally {
    await file.close();
  }
}
