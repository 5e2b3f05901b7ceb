import type { Readable } from 'node:stream';

/** A line of the input without its line feed, or the size of one that was too long to keep. */
export type InputLine =
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'too-long'; readonly bytes: number };

/** Far above the 10 MB that a client may send; what is longer would only fill the memory. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const LINE_FEED = 10;

/**
 * Gives the lines of a stream as they come. A last line without a line feed counts; empty lines do not. A stream that
 * breaks ends like one that was closed.
 */
export async function* readInputLines(input: Readable, maxBytes = MAX_LINE_BYTES): AsyncGenerator<InputLine> {
  let pieces: Buffer[] = [];
  let held = 0;
  const take = (): InputLine | undefined => {
    const bytes = held;
    const text = bytes > maxBytes ? '' : Buffer.concat(pieces).toString('utf8');
    pieces = [];
    held = 0;
    if (bytes > maxBytes) return { type: 'too-long', bytes };
    const line = text.replace(/^\uFEFF/, '').replace(/\r$/, '');
    return line.trim() === '' ? undefined : { type: 'line', text: line };
  };
  const add = (piece: Buffer): void => {
    held += piece.length;
    if (held > maxBytes) pieces = [];
    else pieces.push(piece);
  };
  for await (const chunk of quietly(input)) {
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(LINE_FEED, start);
      add(chunk.subarray(start, end < 0 ? chunk.length : end));
      if (end < 0) break;
      const line = take();
      if (line !== undefined) yield line;
      start = end + 1;
    }
  }
  const line = take();
  if (line !== undefined) yield line;
}

async function* quietly(input: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of input) yield typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
  } catch {
    // The other side is gone in a rude way: that is the end of its lines too.
  }
}
