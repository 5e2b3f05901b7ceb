/** Where a text stops being JSON. */
export interface JsonFault {
  /** UTF-16 code units from the start of the text. */
  readonly offset: number;
  readonly reason: string;
}

const SPACE = /[ \t\n\r]*/y;
const PLAIN_TEXT = /[^"\\\u0000-\u001f]*/y; // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

/**
 * Finds the first fault of a text that `JSON.parse` refused, since V8 does not always say where. Source: RFC 8259.
 * Expects bounded nesting (see {@link nestsDeeperThan}).
 */
export function findJsonFault(text: string): JsonFault | undefined {
  let at = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return false;
    at += found[0].length;
    return true;
  };
  const here = (expected: string): JsonFault => ({
    offset: at,
    reason:
      at >= text.length
        ? `the text ends where ${expected} should follow`
        : `${expected} expected, found ${show(text, at)}`,
  });

  const readString = (): JsonFault | undefined => {
    at += 1;
    for (;;) {
      skip(PLAIN_TEXT);
      if (text[at] === '"') {
        at += 1;
        return undefined;
      }
      if (at >= text.length) return { offset: at, reason: 'the text ends within a string' };
      if (text[at] !== '\\') {
        return {
          offset: at,
          reason: `a string holds the raw control character ${show(text, at)}; write it as an escape`,
        };
      }
      if (!skip(ESCAPE)) {
        return { offset: at, reason: `illegal escape ${show(text, at, 2)} in a string; write a backslash as \\\\` };
      }
    }
  };

  const readMembers = (close: string, readOne: () => JsonFault | undefined): JsonFault | undefined => {
    at += 1;
    skip(SPACE);
    if (text[at] === close) {
      at += 1;
      return undefined;
    }
    for (;;) {
      const fault = readOne();
      if (fault !== undefined) return fault;
      skip(SPACE);
      if (text[at] === close) {
        at += 1;
        return undefined;
      }
      if (text[at] !== ',') return here(`"," or "${close}"`);
      at += 1;
      skip(SPACE);
    }
  };

  const readMember = (): JsonFault | undefined => {
    if (text[at] !== '"') return here('a property name in double quotes');
    const fault = readString();
    if (fault !== undefined) return fault;
    skip(SPACE);
    if (text[at] !== ':') return here('":"');
    at += 1;
    return readValue();
  };

  const readValue = (): JsonFault | undefined => {
    skip(SPACE);
    if (text[at] === '"') return readString();
    if (text[at] === '{') return readMembers('}', readMember);
    if (text[at] === '[') return readMembers(']', readValue);
    return skip(NUMBER) || skip(WORD) ? undefined : here('a value');
  };

  const fault = readValue();
  if (fault !== undefined) return fault;
  skip(SPACE);
  return at < text.length ? { offset: at, reason: `the value is over, but ${show(text, at)} follows` } : undefined;
}

/** Tells whether objects and arrays in a JSON text are nested more than `limit` deep; reads broken JSON too. */
export function nestsDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}

function show(text: string, at: number, length = 1): string {
  const piece = text.slice(at, at + length);
  return length === 1 ? JSON.stringify(piece) : piece;
}
