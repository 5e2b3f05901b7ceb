/** Thrown for a line that is longer than the limit. */
export class LineTooLong extends Error {}

/** Puts lines together from chunks of bytes. */
export interface LineSplitter {
  /** @throws LineTooLong */
  take(chunk: Buffer): void;
}

/** Calls `onLine` with each whole line, without its end. Memory is bounded by one line of `maxBytes`. */
export function splitLines(maxBytes: number, onLine: (line: string) => void): LineSplitter {
  let pieces: Buffer[] = [];
  let size = 0;
  return {
    take(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        pieces.push(chunk.subarray(start, end));
        const line = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
        pieces = [];
        size = 0;
        start = end + 1;
        onLine(line.toString('utf8'));
      }
      if (start === chunk.length) return;
      size += chunk.length - start;
      if (size > maxBytes) throw new LineTooLong(`a line of more than ${maxBytes} bytes`);
      pieces.push(chunk.subarray(start));
    },
  };
}
