import type { Redactor } from './ports.ts';

/** Characters around a cut in which secrets are looked for; none is longer. */
const REACH = 128 * 1024;
/** What tokens consist of. */
const TOKEN = /[A-Za-z0-9._~+/=-]/;
const HEADER = /bearer[ \t]{1,8}$/i;
const KEY_BEGINS = '-----BEGIN ';
const OPEN_KEY = /^-----BEGIN [A-Z0-9 ]*(?:$|PRIVATE KEY)/;
const KEY_ENDS = /-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/;

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Makes what shortens texts without leaving half a secret.
 *
 * @param values exact secrets
 * @param shapes global expressions of secrets of known forms
 * @param isSuspicious quickly tells texts that may hold one
 */
export function createSecretCuts(
  values: readonly string[],
  shapes: readonly RegExp[],
  isSuspicious: (text: string) => boolean,
): Pick<Redactor, 'slice' | 'settled'> {
  /** Moves a cut out of the secrets that it would divide. */
  function moved(text: string, at: number, side: 'start' | 'end'): number {
    if (at <= 0 || at >= text.length) return Math.min(Math.max(at, 0), text.length);
    const from = Math.max(0, at - REACH);
    const around = text.slice(from, at + REACH);
    if (!isSuspicious(around)) return at;
    let cut = at - from;
    for (let span = divided(around, cut); span !== undefined; span = divided(around, cut)) cut = span[side];
    return from + cut;
  }

  function divided(text: string, cut: number): Span | undefined {
    for (const value of values) {
      const start = text.indexOf(value, Math.max(0, cut - value.length + 1));
      if (start !== -1 && start < cut) return { start, end: start + value.length };
    }
    for (const shape of shapes) {
      for (const { index: start, 0: found } of text.matchAll(shape)) {
        if (start >= cut) break;
        if (start + found.length > cut) return { start, end: start + found.length };
      }
    }
    return undefined;
  }

  return {
    slice(text, from, to) {
      return text.slice(moved(text, from, 'end'), moved(text, to, 'start'));
    },
    settled(text) {
      const from = Math.max(0, text.length - REACH);
      const tail = text.slice(from);
      const starts = [tokenStart(tail), keyStart(tail), ...values.map((value) => valueStart(tail, value))];
      return from + Math.min(...starts);
    },
  };
}

/** Where the token at the end begins, with the word before it that would make it a secret. Dots alone are progress. */
function tokenStart(text: string): number {
  let start = text.length;
  while (start > 0 && TOKEN.test(text.charAt(start - 1))) start -= 1;
  while (text.charAt(start) === '.') start += 1;
  return HEADER.exec(text.slice(Math.max(0, start - 16), start)) === null
    ? start
    : text.slice(0, start).toLowerCase().lastIndexOf('bearer');
}

/** Where a private key begins that has not ended. */
function keyStart(text: string): number {
  const start = text.lastIndexOf(KEY_BEGINS);
  if (start === -1) return text.length;
  const block = text.slice(start);
  return OPEN_KEY.test(block) && !KEY_ENDS.test(block) ? start : text.length;
}

/** Where the text ends in a beginning of a value. */
function valueStart(text: string, value: string): number {
  const first = value.charAt(0);
  const from = Math.max(0, text.length - value.length + 1);
  for (let at = text.indexOf(first, from); at !== -1; at = text.indexOf(first, at + 1)) {
    if (value.startsWith(text.slice(at))) return at;
  }
  return text.length;
}
