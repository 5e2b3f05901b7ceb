import { read, write } from 'node:fs';

const CHUNK_BYTES = 1 << 16;

/**
 * Calls `onLine` with each line that arrives on a descriptor, and `onEnd` when it closes.
 *
 * The descriptors of a sandbox block, so plain reads on the thread pool serve; `process.stdin` would load the stream and
 * net modules, which take a tenth of the sandbox's start.
 */
export function readLines(fd: number, onLine: (line: string) => void, onEnd: () => void): void {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let pieces: Buffer[] = [];
  const take = (bytes: Buffer): void => {
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      const last = bytes.subarray(start, end);
      const line = pieces.length === 0 ? last.toString('utf8') : Buffer.concat([...pieces, last]).toString('utf8');
      pieces = [];
      start = end + 1;
      onLine(line);
    }
    // The buffer is used again, so what is left of it must be copied.
    if (start < bytes.length) pieces.push(Buffer.from(bytes.subarray(start)));
  };
  const next = (): void => {
    read(fd, buffer, 0, CHUNK_BYTES, null, (error, count) => {
      if (error !== null || count === 0) return onEnd();
      take(buffer.subarray(0, count));
      next();
    });
  };
  next();
}

export interface LineWriter {
  /** Queues one line; lines queued while a write is under way leave together. */
  line(text: string): void;
}

/** Writes lines to a descriptor in order. `onError` when the reader is gone. */
export function writeLines(fd: number, onError: () => void): LineWriter {
  let waiting: string[] = [];
  let busy = false;
  const push = (bytes: Buffer, from: number): void => {
    write(fd, bytes, from, bytes.length - from, null, (error, count) => {
      if (error !== null) return onError();
      if (from + count < bytes.length) return push(bytes, from + count);
      busy = false;
      next();
    });
  };
  const next = (): void => {
    if (busy || waiting.length === 0) return;
    busy = true;
    const bytes = Buffer.from(waiting.join(''), 'utf8');
    waiting = [];
    push(bytes, 0);
  };
  return {
    line(text) {
      waiting.push(text, '\n');
      next();
    },
  };
}
