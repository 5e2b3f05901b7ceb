import { type Disk, type DiskFile, errnoOf, writeWhole } from './disk.ts';
import { replaceFile } from './replace-file.ts';
import { unwritableError } from './unwritable-error.ts';

const PIECE_BYTES = 1 << 20;

/**
 * Gives a file's content to a new file of the same name. A process that has the old one open goes on writing to a file
 * without a name, which nobody reads. A missing file is left alone.
 *
 * @throws STATE_UNWRITABLE; the file is then untouched
 */
export async function moveToNewFile(disk: Disk, path: string): Promise<void> {
  const old = await openIfThere(disk, path);
  if (old === undefined) return;
  try {
    await replaceFile(disk, path, (fresh) => copyAll(old, fresh));
  } finally {
    await old.close();
  }
}

async function openIfThere(disk: Disk, path: string): Promise<DiskFile | undefined> {
  try {
    return await disk.open(path, 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw unwritableError(path, error);
  }
}

async function copyAll(from: DiskFile, to: DiskFile): Promise<void> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  for (let position = 0; ; ) {
    const { bytesRead } = await from.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    await writeWhole(to, buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}
