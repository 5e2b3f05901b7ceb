const CHUNK_BYTES = 256 * 1024;
/** A quiet file gets a line at a time: its first chunk is small. */
const FIRST_CHUNK_BYTES = 16 * 1024;
const SPARE_CHUNKS = 8;
/** UTF-8 takes at most three bytes for each UTF-16 unit. */
const BYTES_PER_UNIT = 3;
/** Longer texts are measured instead of given three times their length. */
const LONG_TEXT_UNITS = 64 * 1024;

/** A piece of a queue; bytes from `used` on are free. */
export interface Chunk {
  readonly bytes: Buffer;
  used: number;
}

/** Encoded text that waits to be written. Strings are encoded at once, so that they die young, and chunks are used again. */
export class ByteQueue {
  #chunks: Chunk[] = [];
  #spare: Buffer[] = [];
  #bytesInFullChunks = 0;

  get bytes(): number {
    return this.#bytesInFullChunks + (this.#chunks.at(-1)?.used ?? 0);
  }

  /** Gives a chunk with room for at least so many bytes; whoever writes to it moves `used`. */
  room(bytesAtMost: number): Chunk {
    const last = this.#chunks.at(-1);
    if (last !== undefined && last.bytes.length - last.used >= bytesAtMost) {
      return last;
    }
    this.#bytesInFullChunks += last?.used ?? 0;
    const chunk = { bytes: this.#allocate(bytesAtMost), used: 0 };
    this.#chunks.push(chunk);
    return chunk;
  }

  /** Takes everything out. */
  take(): readonly Uint8Array[] {
    const pieces = this.#chunks.map((chunk) => chunk.bytes.subarray(0, chunk.used));
    this.#chunks = [];
    this.#bytesInFullChunks = 0;
    return pieces;
  }

  /** Gives pieces back that were written, so that their memory is used again. */
  recycle(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) {
      if (piece.buffer.byteLength === CHUNK_BYTES && this.#spare.length < SPARE_CHUNKS) {
        this.#spare.push(Buffer.from(piece.buffer as ArrayBuffer));
      }
    }
  }

  #allocate(bytesAtMost: number): Buffer {
    if (this.#chunks.length === 0 && bytesAtMost <= FIRST_CHUNK_BYTES) {
      return this.#spare.pop() ?? Buffer.allocUnsafeSlow(FIRST_CHUNK_BYTES);
    }
    return bytesAtMost <= CHUNK_BYTES
      ? (this.#spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES))
      : Buffer.allocUnsafeSlow(bytesAtMost);
  }
}

/** How many bytes a text can need in UTF-8. */
export function bytesAtMost(text: string): number {
  return text.length > LONG_TEXT_UNITS ? Buffer.byteLength(text) : text.length * BYTES_PER_UNIT;
}
