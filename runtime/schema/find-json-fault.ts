/** Where a text stops being JSON. */
export interface JsonFault {
  /** UTF-16 code units from the start of the text. */
  readonly offset: number;
  readonly reason: string;
}

interface Reader {
  readonly text: string;
  at: number;
}

const SPACE = /[ \t\n\r]*/y;
const PLAIN_TEXT = /[^"\\\p{Cc}]+|[\u007f-\u009f]+/uy;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

/**
 * Finds the first fault of a text that `JSON.parse` refused, since V8 does not always say where. Source: RFC 8259.
 * Expects bounded nesting (see {@link nestsDeeperThan}).
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const reader = { text, at: 0 };
  const fault = readValue(reader);
  if (fault !== undefined) return fault;
  skip(reader, SPACE);
  if (reader.at === text.length) return undefined;
  return { offset: reader.at, reason: `the value is over, but ${show(reader)} follows` };
}

/** Tells whether objects and arrays in a JSON text are nested more than `limit` deep; reads broken JSON too. */
export function nestsDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
  }
  return false;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

function readValue(reader: Reader): JsonFault | undefined {
  skip(reader, SPACE);
  switch (reader.text[reader.at]) {
    case '"':
      return readString(reader);
    case '{':
      return readList(reader, '}', readMember);
    case '[':
      return readList(reader, ']', readValue);
    default:
      return skip(reader, NUMBER) || skip(reader, WORD) ? undefined : expected(reader, 'a value');
  }
}

function readList(
  reader: Reader,
  close: string,
  readOne: (reader: Reader) => JsonFault | undefined,
): JsonFault | undefined {
  reader.at += 1;
  skip(reader, SPACE);
  if (take(reader, close)) return undefined;
  for (;;) {
    const fault = readOne(reader);
    if (fault !== undefined) return fault;
    skip(reader, SPACE);
    if (take(reader, close)) return undefined;
    if (!take(reader, ',')) return expected(reader, `"," or "${close}"`);
    skip(reader, SPACE);
  }
}

function readMember(reader: Reader): JsonFault | undefined {
  if (reader.text[reader.at] !== '"') return expected(reader, 'a property name in double quotes');
  const fault = readString(reader);
  if (fault !== undefined) return fault;
  skip(reader, SPACE);
  return take(reader, ':') ? readValue(reader) : expected(reader, '":"');
}

function readString(reader: Reader): JsonFault | undefined {
  reader.at += 1;
  for (;;) {
    while (skip(reader, PLAIN_TEXT));
    if (take(reader, '"')) return undefined;
    const offset = reader.at;
    if (offset >= reader.text.length) return { offset, reason: 'the text ends within a string' };
    if (reader.text[offset] !== '\\') {
      return { offset, reason: `a string holds the raw control character ${show(reader)}; write it as an escape` };
    }
    if (!skip(reader, ESCAPE)) {
      const found = reader.text.slice(offset, offset + 2);
      return { offset, reason: `illegal escape ${found} in a string; write a backslash as \\\\` };
    }
  }
}

/** Goes past what the pattern matches here; false when that is nothing. */
function skip(reader: Reader, pattern: RegExp): boolean {
  pattern.lastIndex = reader.at;
  const length = pattern.exec(reader.text)?.[0].length ?? 0;
  reader.at += length;
  return length > 0;
}

function take(reader: Reader, character: string): boolean {
  const found = reader.text[reader.at] === character;
  if (found) reader.at += 1;
  return found;
}

function expected(reader: Reader, what: string): JsonFault {
  const ended = reader.at >= reader.text.length;
  const reason = ended ? `the text ends where ${what} should follow` : `${what} expected, found ${show(reader)}`;
  return { offset: reader.at, reason };
}

function show({ text, at }: Reader): string {
  return JSON.stringify(text.slice(at, at + 1));
}
