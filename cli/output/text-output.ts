import type { WriteStream } from 'node:tty';

/** A stream of this process that text goes to. Nothing here throws or rejects: a reader that went away is not our error. */
export interface TextOutput {
  write(text: string): void;
  /** Gives later texts to `to` instead of the stream, for somebody who draws there; undefined ends that. */
  divert?(to: ((text: string) => void) | undefined): void;
  /** Resolves when all that was written has left the process, or the reader is gone. */
  flushed(): Promise<void>;
  /** True once the reader is gone (EPIPE) or nothing can be written any more; later writes are dropped. */
  readonly closed: boolean;
  /** Why something could not be written although its reader is there, such as a full disk. */
  readonly failure: Error | undefined;
  readonly isTerminal: boolean;
  /** Width of the terminal; undefined when it is none, or does not say. */
  readonly columns: number | undefined;
  /** The stream itself, for writers that watch its backlog. */
  readonly stream: NodeJS.WritableStream & { readonly writableLength: number };
}

const READER_IS_GONE: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);

/** Wraps a stream of the process: swallows errors of a reader that went away, and knows when everything has left. */
export function createTextOutput(stream: WriteStream | (NodeJS.WriteStream & { fd: number })): TextOutput {
  let closed = false;
  let failure: Error | undefined;
  let diverted: ((text: string) => void) | undefined;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    closed = true;
    if (!READER_IS_GONE.has(error.code ?? '')) failure ??= error;
  });
  return {
    stream,
    get closed() {
      return closed;
    },
    get failure() {
      return failure;
    },
    get isTerminal() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.isTTY === true && stream.columns > 0 ? stream.columns : undefined;
    },
    write(text) {
      if (closed || text === '') return;
      if (diverted === undefined) stream.write(text);
      else diverted(text);
    },
    divert(to) {
      diverted = to;
    },
    flushed() {
      // A write that failed at once is told of a little later.
      if (closed || stream.writableLength === 0) return new Promise((resolve) => void setImmediate(resolve));
      return new Promise((resolve) => {
        stream.once('error', () => resolve());
        stream.once('close', () => resolve());
        stream.write('', () => resolve());
      });
    },
  };
}
