import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { CoreEvent } from '../../protocol/core-event.ts';

const POLL_MS = 100;
const CHUNK_BYTES = 256 * 1024;

/**
 * Gives the events of a log as they are written, from its beginning, until `isOver` says that nobody writes any more and
 * all was read. A last line that is not whole yet is waited for.
 */
export async function* followEvents(path: string, isOver: () => Promise<boolean>): AsyncGenerator<CoreEvent> {
  await using file = await open(path, 'r');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest = Buffer.alloc(0);
  for (let position = 0, wasOver = false; ; ) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) {
      if (wasOver) return;
      wasOver = await isOver();
      if (!wasOver) await delay(POLL_MS);
      continue;
    }
    position += bytesRead;
    const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    const end = bytes.lastIndexOf(10) + 1;
    yield* parseLines(bytes.toString('utf8', 0, end));
    rest = bytes.subarray(end);
  }
}

function* parseLines(text: string): Generator<CoreEvent> {
  for (const line of text.split('\n')) {
    try {
      const event = JSON.parse(line) as CoreEvent | null;
      if (typeof event?.seq === 'number' && typeof event.type === 'string') yield event;
    } catch {
      // An empty line, or one that a crash cut off.
    }
  }
}
