import { crc32 } from 'node:zlib';

const CHUNK_BYTES = 256 * 1024;
/** `,"crc":"` + 8 hex + `"}` + newline. */
const SEAL_BYTES = 19;

interface Chunk {
  readonly bytes: Buffer;
  used: number;
}

/** Rows that wait to be written, encoded and sealed with their CRC. */
export class RowBuffer {
  #chunks: Chunk[] = [];
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  /** Adds one row, given as text without its seal. */
  push(text: string): void {
    const chunk = this.#chunkFor(text.length * 3 + SEAL_BYTES);
    const start = chunk.used;
    const end = start + chunk.bytes.write(text, start);
    const crc = crc32(chunk.bytes.subarray(start, end));
    chunk.used = end + chunk.bytes.write(`,"crc":"${crc.toString(16).padStart(8, '0')}"}\n`, end, 'latin1');
    this.#rows += 1;
  }

  /** Takes all rows out, as pieces that hold whole rows. */
  take(): readonly Uint8Array[] {
    const pieces = this.#chunks.map((chunk) => chunk.bytes.subarray(0, chunk.used));
    this.#chunks = [];
    this.#rows = 0;
    return pieces;
  }

  #chunkFor(bytesAtMost: number): Chunk {
    const last = this.#chunks.at(-1);
    if (last !== undefined && last.bytes.length - last.used >= bytesAtMost) {
      return last;
    }
    const chunk = { bytes: Buffer.allocUnsafeSlow(Math.max(bytesAtMost, this.#chunkBytes())), used: 0 };
    this.#chunks.push(chunk);
    return chunk;
  }

  /** A quiet run appends one row at a time: its first chunk is small. */
  #chunkBytes(): number {
    return this.#chunks.length === 0 ? CHUNK_BYTES / 16 : CHUNK_BYTES;
  }
}
