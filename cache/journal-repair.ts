import { dirname, join } from 'node:path';
import { type Disk, type DiskFile, FILE_MODE, writeWhole } from './disk.ts';
import { replaceFile } from './replace-file.ts';

/** A line of a file by its bytes, newline included. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly number: number;
  /** False for a last line without its newline. */
  readonly terminated: boolean;
}

/** Mends a file. `assertHeld` throws when the run is another process's by now; it is asked when the file is open. */
export type Repair = (assertHeld: () => Promise<void>) => Promise<void>;

/** Cuts a torn last line off. */
export function cutAt(disk: Disk, path: string, bytes: number): Repair {
  return (assertHeld) =>
    withFile(disk, path, 'r+', async (file) => {
      await assertHeld();
      await file.truncate(bytes);
      await file.sync();
    });
}

/** Ends a whole last row whose newline was lost. */
export function addNewline(disk: Disk, path: string): Repair {
  return (assertHeld) =>
    withFile(disk, path, 'a', async (file) => {
      await assertHeld();
      await writeWhole(file, Buffer.from('\n'));
    });
}

/** Moves lines to `journal.rejected`: first they are stored there, then the file is replaced by one without them. */
export function setAside(disk: Disk, path: string, lines: readonly LineRange[]): Repair {
  return (assertHeld) =>
    withFile(disk, path, 'r', async (journal) => {
      await assertHeld();
      const { size } = await journal.stat();
      await withFile(disk, join(dirname(path), 'journal.rejected'), 'a', async (rejected) => {
        await rejected.chmod(FILE_MODE);
        for (const line of lines) {
          await copyRange(journal, line.start, line.end, rejected);
          if (!line.terminated) {
            await writeWhole(rejected, Buffer.from('\n'));
          }
        }
        await rejected.sync();
      });
      await replaceFile(disk, path, (kept) => copyGoodLines(journal, size, lines, kept));
    });
}

async function copyGoodLines(
  journal: DiskFile,
  size: number,
  lines: readonly LineRange[],
  kept: DiskFile,
): Promise<void> {
  let position = 0;
  for (const line of lines) {
    await copyRange(journal, position, line.start, kept);
    position = line.end;
  }
  await copyRange(journal, position, size, kept);
  const lastByte = Buffer.alloc(1);
  if (position < size && (await journal.read(lastByte, 0, 1, size - 1)).bytesRead === 1 && lastByte[0] !== 10) {
    await writeWhole(kept, Buffer.from('\n'));
  }
}

async function copyRange(from: DiskFile, start: number, end: number, to: DiskFile): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(end - start, 1 << 20));
  for (let position = start; position < end; ) {
    const { bytesRead } = await from.read(buffer, 0, Math.min(buffer.length, end - position), position);
    if (bytesRead === 0) {
      return;
    }
    await writeWhole(to, buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}

async function withFile(
  disk: Disk,
  path: string,
  flags: string,
  use: (file: DiskFile) => Promise<void>,
): Promise<void> {
  const file = await disk.open(path, flags, FILE_MODE);
  try {
    await use(file);
  } finally {
    await file.close();
  }
}
