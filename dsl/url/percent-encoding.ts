import { TextDecoder, TextEncoder } from '../text-encoding.ts';

/** Characters to encode besides controls and what is beyond ASCII. Source: URL Standard, percent-encode sets. */
export const FRAGMENT_SET = ' "<>`';
export const QUERY_SET = ' "#<>';
export const SPECIAL_QUERY_SET = `${QUERY_SET}'`;
export const PATH_SET = `${QUERY_SET}?^\`{}`;
export const USERINFO_SET = `${PATH_SET}/:;=@[\\]|`;
export const CONTROL_SET = '';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export function percentEncode(text: string, set: string): string {
  let encoded = '';
  for (const character of text.toWellFormed()) {
    const code = character.charCodeAt(0);
    encoded += code < 0x20 || code > 0x7e || set.includes(character) ? percentBytes(character) : character;
  }
  return encoded;
}

export function percentBytes(character: string): string {
  let encoded = '';
  for (const byte of encoder.encode(character)) encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return encoded;
}

/** Replaces each `%xx` by its byte and reads the whole as UTF-8. */
export function percentDecode(text: string): string {
  const source = encoder.encode(text);
  const bytes: number[] = [];
  for (let at = 0; at < source.length; at++) {
    const hex = source[at] === 0x25 ? String.fromCharCode(source[at + 1] ?? 0, source[at + 2] ?? 0) : '';
    if (/^[0-9a-f]{2}$/i.test(hex)) {
      bytes.push(Number.parseInt(hex, 16));
      at += 2;
    } else bytes.push(source[at] as number);
  }
  return decoder.decode(Uint8Array.from(bytes));
}
