import { constants } from 'node:fs';
import { type Disk, type DiskFile, errnoOf, FILE_MODE, writeWhole } from './disk.ts';

/** Where an event log goes on. */
export interface EventTail {
  /** `seq` of the last whole event; 0 when there is none. */
  readonly seq: number;
  /** Bytes to keep; what stands after them was not written whole. */
  readonly keepBytes: number;
  readonly fileBytes: number;
  /** False when the last event to keep lost its newline. */
  readonly terminated: boolean;
}

const NEWLINE = 10;
const FIRST_WINDOW_BYTES = 64 * 1024;

/** Finds the last whole event of a log by reading its end only. A missing file is an empty log. */
export async function findEventTail(disk: Disk, path: string): Promise<EventTail> {
  let file: DiskFile;
  try {
    file = await disk.open(path, 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') {
      return { seq: 0, keepBytes: 0, fileBytes: 0, terminated: true };
    }
    throw error;
  }
  try {
    const { size } = await file.stat();
    for (let window = FIRST_WINDOW_BYTES; ; window *= 4) {
      const from = Math.max(0, size - window);
      const tail = tailOf(await readFrom(file, from, size), from, size);
      if (tail !== undefined) {
        return tail;
      }
      if (from === 0) {
        return { seq: 0, keepBytes: 0, fileBytes: size, terminated: true };
      }
    }
  } finally {
    await file.close();
  }
}

/**
 * Opens a log to append to it after its tail, cutting off what was not written whole. `assertHeld` throws when the run is
 * another process's by now.
 */
export async function openAfterTail(
  disk: Disk,
  path: string,
  tail: EventTail,
  assertHeld: () => Promise<void>,
): Promise<DiskFile> {
  const file = await disk.open(path, constants.O_RDWR | constants.O_CREAT, FILE_MODE);
  try {
    await assertHeld();
    await file.chmod(FILE_MODE);
    if (tail.keepBytes < tail.fileBytes) {
      await file.truncate(tail.keepBytes);
    }
    if (!tail.terminated) {
      await writeWhole(file, Buffer.from('\n'), tail.keepBytes);
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Where the next event is written. */
export function nextOffset(tail: EventTail): number {
  return tail.keepBytes + (tail.terminated ? 0 : 1);
}

async function readFrom(file: DiskFile, from: number, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(size - from);
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, from + filled);
    if (bytesRead === 0) {
      break;
    }
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function tailOf(buffer: Buffer, from: number, fileBytes: number): EventTail | undefined {
  let end = buffer.length;
  while (end > 0) {
    const terminated = buffer[end - 1] === NEWLINE;
    const lineEnd = terminated ? end - 1 : end;
    const start = lineEnd === 0 ? 0 : buffer.lastIndexOf(NEWLINE, lineEnd - 1) + 1;
    if (start === 0 && from > 0) {
      return undefined;
    }
    const seq = seqOf(buffer.toString('utf8', start, lineEnd));
    if (seq !== undefined) {
      return { seq, keepBytes: from + end, fileBytes, terminated };
    }
    end = start;
  }
  return undefined;
}

function seqOf(line: string): number | undefined {
  try {
    const event = JSON.parse(line) as { seq?: unknown } | null;
    return typeof event?.seq === 'number' ? event.seq : undefined;
  } catch {
    return undefined;
  }
}
