import type { DiskFile } from './disk.ts';

/** One line of a file. `buffer` holds it only during the call. */
export interface Line {
  readonly buffer: Buffer;
  /** Where its bytes begin and end in `buffer`, without the newline. */
  readonly start: number;
  readonly end: number;
  /** Where it begins in the file. */
  readonly offset: number;
  /** From 1. */
  readonly number: number;
  /** False for a last line without its newline. */
  readonly terminated: boolean;
}

const NEWLINE = 10;
const LARGEST_CHUNK_BYTES = 1 << 20;

/** Calls `take` for each line of a file, in order, holding one chunk (or the longest line) in memory. */
export async function readLines(file: DiskFile, take: (line: Line) => void): Promise<void> {
  const { size } = await file.stat();
  let buffer: Buffer = Buffer.allocUnsafe(Math.min(size + 1, LARGEST_CHUNK_BYTES));
  let held = 0;
  let offset = 0;
  let number = 1;
  for (;;) {
    const { bytesRead } = await file.read(buffer, held, buffer.length - held, offset + held);
    const filled = held + bytesRead;
    let start = 0;
    let searchFrom = held;
    for (;;) {
      const end = buffer.subarray(0, filled).indexOf(NEWLINE, searchFrom);
      if (end === -1) {
        break;
      }
      take({ buffer, start, end, offset: offset + start, number, terminated: true });
      number += 1;
      start = end + 1;
      searchFrom = start;
    }
    held = filled - start;
    offset += start;
    if (bytesRead === 0) {
      if (held > 0) {
        take({ buffer, start, end: filled, offset, number, terminated: false });
      }
      return;
    }
    buffer = makeRoom(buffer, start, filled);
  }
}

/** Moves the unfinished line to the front, into a larger buffer when it fills this one. */
function makeRoom(buffer: Buffer, start: number, filled: number): Buffer {
  const held = filled - start;
  const target = held > buffer.length / 2 ? Buffer.allocUnsafe(buffer.length * 2) : buffer;
  buffer.copy(target, 0, start, filled);
  return target;
}
