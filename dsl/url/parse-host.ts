import { CONTROL_SET, percentDecode, percentEncode } from './percent-encoding.ts';
import { toPunycode } from './punycode.ts';

const FORBIDDEN_HOST = /[\0\t\n\r #/:<>?@[\\\]^|]/;
const FORBIDDEN_DOMAIN = /[\0-\x20#/:<>?@[\\\]^|%\x7f]/;

/** Serialises a host; undefined when it is none. Source: URL Standard, host parsing. */
export function parseHost(text: string, special: boolean): string | undefined {
  if (text.startsWith('[')) {
    const pieces = text.endsWith(']') ? parseIpv6(text.slice(1, -1)) : undefined;
    return pieces === undefined ? undefined : `[${serializeIpv6(pieces)}]`;
  }
  if (!special) return FORBIDDEN_HOST.test(text) ? undefined : percentEncode(text, CONTROL_SET);
  const decoded = percentDecode(text);
  if (decoded.includes('\ufffd')) return undefined;
  const domain = toAscii(decoded);
  if (domain === '' || FORBIDDEN_DOMAIN.test(domain)) return undefined;
  return endsInNumber(domain) ? parseIpv4(domain) : domain;
}

/**
 * Maps a domain to ASCII. Lower case and compatibility forms stand for the tables of UTS 46, which are many times the size
 * of the rest: labels of current scripts come out the same.
 */
function toAscii(domain: string): string {
  if (/^[\0-\x7f]*$/.test(domain)) return domain.toLowerCase();
  const mapped = domain
    .replace(/[\u00ad\u200b\u2060\ufeff]/g, '')
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFC')
    .replace(/[\u3002\uff0e\uff61]/g, '.');
  const labels = mapped.split('.').map((label) => (/^[\0-\x7f]*$/.test(label) ? label : `xn--${toPunycode(label)}`));
  return labels.join('.');
}

function endsInNumber(domain: string): boolean {
  const parts = domain.split('.');
  if (parts.at(-1) === '' && parts.length > 1) parts.pop();
  const last = parts.at(-1) as string;
  return /^\d+$/.test(last) || /^0x[0-9a-f]*$/i.test(last);
}

function parseIpv4(domain: string): string | undefined {
  const parts = domain.split('.');
  if (parts.at(-1) === '' && parts.length > 1) parts.pop();
  if (parts.length > 4) return undefined;
  const numbers = parts.map(parseIpv4Number);
  const last = numbers.at(-1);
  if (last === undefined || last >= 256 ** (5 - numbers.length)) return undefined;
  let address = last;
  for (let at = 0; at < numbers.length - 1; at++) {
    const number = numbers[at];
    if (number === undefined || number > 255) return undefined;
    address += number * 256 ** (3 - at);
  }
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

function parseIpv4Number(text: string): number | undefined {
  if (/^0x[0-9a-f]*$/i.test(text)) return text.length === 2 ? 0 : Number.parseInt(text, 16);
  if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8);
  return /^(0|[1-9]\d*)$/.test(text) ? Number.parseInt(text, 10) : undefined;
}

function parseIpv6(text: string): number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [left, right] = halves.map((half, at) => parsePieces(half, at === halves.length - 1));
  if (left === undefined) return undefined;
  if (halves.length === 1) return left.length === 8 ? left : undefined;
  if (right === undefined || left.length + right.length > 7) return undefined;
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function parsePieces(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === '') return [];
  const pieces: number[] = [];
  const parts = text.split(':');
  for (const [at, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) pieces.push(Number.parseInt(part, 16));
    else {
      const bytes = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/
        .exec(part)
        ?.slice(1)
        .map(Number);
      if (bytes === undefined || !mayEndInIpv4 || at !== parts.length - 1 || bytes.some((byte) => byte > 255))
        return undefined;
      const [a, b, c, d] = bytes as [number, number, number, number];
      pieces.push(a * 256 + b, c * 256 + d);
    }
  }
  return pieces;
}

/** Source: URL Standard, IPv6 serializer: the first longest run of two or more zeros becomes `::`. */
function serializeIpv6(pieces: readonly number[]): string {
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && pieces[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const hex = pieces.map((piece) => piece.toString(16));
  if (best.start < 0) return hex.join(':');
  return `${hex.slice(0, best.start).join(':')}::${hex.slice(best.start + best.length).join(':')}`;
}
