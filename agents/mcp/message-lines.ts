import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/** Longest message in bytes. One answer to a step may have 16 MiB, and its escapes as much again. */
const MAX_LINE_BYTES = 40 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface MessageLinesOptions {
  readonly onMessage: (message: JSONRPCMessage) => void;
  /** Told of a line that is no message. It is skipped; `id` is that of the request it might have been. */
  readonly onBroken: (error: Error, id: string | number | undefined) => void;
  /** @defaultValue 40 MiB */
  readonly maxLineBytes?: number;
}

/**
 * Cuts a stream of bytes into JSON-RPC messages, one a line. What is broken or too long is skipped to its end, and the next
 * line is read: no client can end a server by a bad line. (The SDK's own reader gives up at 10 MiB.)
 */
export class MessageLines {
  readonly #options: MessageLinesOptions;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;
  #skipping = false;

  constructor(options: MessageLinesOptions) {
    this.#options = options;
    this.#maxBytes = options.maxLineBytes ?? MAX_LINE_BYTES;
  }

  readonly take = (chunk: Buffer): void => {
    let rest = chunk;
    for (let at = rest.indexOf(NEWLINE); at !== -1; at = rest.indexOf(NEWLINE)) {
      this.#keep(rest.subarray(0, at));
      this.#endLine();
      rest = rest.subarray(at + 1);
    }
    if (rest.length > 0) this.#keep(rest);
  };

  #keep(part: Buffer): void {
    if (this.#skipping) return;
    this.#size += part.length;
    if (this.#size > this.#maxBytes) {
      this.#skipping = true;
      this.#parts = [];
      return;
    }
    this.#parts.push(part);
  }

  #endLine(): void {
    const skipped = this.#skipping;
    const text = Buffer.concat(this.#parts).toString('utf8').trim();
    this.#parts = [];
    this.#size = 0;
    this.#skipping = false;
    if (skipped) this.#options.onBroken(new Error(`a line is longer than ${this.#maxBytes} bytes`), undefined);
    else if (text !== '') this.#parse(text);
  }

  #parse(text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#options.onBroken(new Error('a line is no JSON'), undefined);
      return;
    }
    if (isMessage(value)) this.#options.onMessage(value);
    else this.#options.onBroken(new Error('a line is no JSON-RPC message'), idOf(value));
  }
}

/** The form that JSON-RPC 2.0 asks for; what a method wants is checked by whoever answers it. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return false;
  const { id, method, params, result, error } = value;
  const hasId = typeof id === 'string' || Number.isInteger(id);
  if (method !== undefined) {
    return typeof method === 'string' && (params === undefined || isObject(params)) && (hasId || id === undefined);
  }
  return hasId && (isObject(result) || (isObject(error) && typeof error['message'] === 'string'));
}

function idOf(value: unknown): string | number | undefined {
  const id = isObject(value) ? value['id'] : undefined;
  return typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id)) ? id : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
