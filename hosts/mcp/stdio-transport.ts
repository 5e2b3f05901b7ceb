import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { MessageLines } from '../../agents/mcp/message-lines.ts';

/** JSON-RPC 2.0, 5.1. */
const INVALID_REQUEST = -32_600;

/**
 * The line to one client over two streams.
 *
 * Contract: a line that is no message is answered where it has an id, else skipped. The end of the input, or an output that
 * nobody reads any more, closes it; it says so once.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines = new MessageLines({
    onMessage: (message) => this.onmessage?.(message),
    onBroken: (error, id) => this.#answerBroken(error, id),
  });
  #closed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#lines.take);
    for (const event of ['end', 'close', 'error'] as const) this.#input.on(event, () => void this.close());
    this.#output.on('error', () => void this.close());
  }

  /** Resolves when the text is out, or never will be. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#output.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off('data', this.#lines.take);
    this.onclose?.();
  }

  #answerBroken(error: Error, id: string | number | undefined): void {
    this.onerror?.(error);
    if (id === undefined) return;
    void this.send({ jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message: error.message } });
  }
}
