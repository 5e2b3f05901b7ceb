/** UTF-8 only: what scripts use the Encoding Standard for. */
export class TextEncoder {
  get encoding(): string {
    return 'utf-8';
  }

  encode(input: unknown = ''): Uint8Array {
    const text = String(input).toWellFormed();
    const bytes = new Uint8Array(byteLength(text));
    let at = 0;
    for (const character of text) {
      const code = character.codePointAt(0) as number;
      if (code < 0x80) bytes[at++] = code;
      else if (code < 0x800) {
        bytes[at++] = 0xc0 | (code >> 6);
        bytes[at++] = 0x80 | (code & 63);
      } else {
        if (code < 0x10000) bytes[at++] = 0xe0 | (code >> 12);
        else {
          bytes[at++] = 0xf0 | (code >> 18);
          bytes[at++] = 0x80 | ((code >> 12) & 63);
        }
        bytes[at++] = 0x80 | ((code >> 6) & 63);
        bytes[at++] = 0x80 | (code & 63);
      }
    }
    return bytes;
  }
}

interface DecoderOptions {
  readonly fatal?: unknown;
  readonly ignoreBOM?: unknown;
}

/** Decodes whole UTF-8 texts; there is no streaming, since a script has no streams. */
export class TextDecoder {
  readonly #fatal: boolean;
  readonly #ignoreBom: boolean;

  constructor(label: unknown = 'utf-8', options: DecoderOptions = {}) {
    const name = String(label).trim().toLowerCase();
    if (name !== 'utf-8' && name !== 'utf8' && name !== 'unicode-1-1-utf-8') {
      throw new RangeError(`TextDecoder knows utf-8 only in a workflow, not ${name}.`);
    }
    this.#fatal = Boolean(options.fatal);
    this.#ignoreBom = Boolean(options.ignoreBOM);
  }

  get encoding(): string {
    return 'utf-8';
  }

  get fatal(): boolean {
    return this.#fatal;
  }

  get ignoreBOM(): boolean {
    return this.#ignoreBom;
  }

  decode(input?: ArrayBuffer | ArrayBufferView): string {
    const bytes = bytesOf(input);
    let text = '';
    let at = 0;
    while (at < bytes.length) {
      const { code, size } = readCodePoint(bytes, at);
      at += size;
      if (code === undefined && this.#fatal) throw new TypeError('The bytes are not UTF-8.');
      text += code === undefined ? '\ufffd' : String.fromCodePoint(code);
    }
    return !this.#ignoreBom && text.startsWith('\ufeff') ? text.slice(1) : text;
  }
}

function bytesOf(input: unknown): Uint8Array {
  if (input === undefined) return new Uint8Array(0);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  throw new TypeError('TextDecoder decodes an ArrayBuffer or a typed array.');
}

function byteLength(text: string): number {
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
}

/** Reads one code point; without a code, `size` bytes are one fault. Source: Encoding Standard, UTF-8 decoder. */
function readCodePoint(bytes: Uint8Array, start: number): { code: number | undefined; size: number } {
  const first = bytes[start] as number;
  if (first < 0x80) return { code: first, size: 1 };
  const needed =
    first >= 0xc2 && first <= 0xdf ? 1 : first >= 0xe0 && first <= 0xef ? 2 : first >= 0xf0 && first <= 0xf4 ? 3 : 0;
  if (needed === 0) return { code: undefined, size: 1 };
  let code = first & (0x3f >> needed);
  for (let step = 1; step <= needed; step++) {
    const byte = bytes[start + step];
    const [low, high] = step === 1 ? secondByteRange(first) : [0x80, 0xbf];
    if (byte === undefined || byte < low || byte > high) return { code: undefined, size: step };
    code = (code << 6) | (byte & 63);
  }
  return { code, size: needed + 1 };
}

/** Excludes overlong forms, surrogates, and what is beyond Unicode. */
function secondByteRange(first: number): readonly [number, number] {
  if (first === 0xe0) return [0xa0, 0xbf];
  if (first === 0xed) return [0x80, 0x9f];
  if (first === 0xf0) return [0x90, 0xbf];
  if (first === 0xf4) return [0x80, 0x8f];
  return [0x80, 0xbf];
}
