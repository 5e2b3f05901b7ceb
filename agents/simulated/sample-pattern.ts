import type { SeededRandom } from './seeded-random.ts';

/** Characters tried for a class, the likeliest first. */
const ALPHABET = [
  ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. /:@#,;+*=!?()[]{}<>|&%$"\'\\~^`\t\näéЖ中',
];
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', 0: '\0' };

/**
 * Makes a text that a pattern matches, in the common part of ECMA-262: literals, classes, groups, alternatives and
 * repetition. `growth` is how far repetition goes beyond its least. Undefined for what it does not know.
 */
export function samplePattern(pattern: string, random: SeededRandom, growth: number): string | undefined {
  const reader = { text: pattern, at: 0 };
  try {
    const sample = readAlternatives(reader, random, growth);
    return reader.at === pattern.length ? sample : undefined;
  } catch (error) {
    if (error instanceof UnknownPattern) return undefined;
    throw error;
  }
}

class UnknownPattern extends Error {}

interface Reader {
  readonly text: string;
  at: number;
}
/** Makes one of the texts that a part of the pattern matches. */
type Sampler = () => string;

function readAlternatives(reader: Reader, random: SeededRandom, growth: number): string {
  return alternatives(reader, random, growth)();
}

function alternatives(reader: Reader, random: SeededRandom, growth: number): Sampler {
  const branches: Sampler[] = [sequence(reader, random, growth)];
  while (reader.text[reader.at] === '|') {
    reader.at += 1;
    branches.push(sequence(reader, random, growth));
  }
  return () => random.pick(branches)();
}

function sequence(reader: Reader, random: SeededRandom, growth: number): Sampler {
  const parts: Sampler[] = [];
  while (reader.at < reader.text.length && !'|)'.includes(reader.text[reader.at] ?? '')) {
    parts.push(quantified(reader, atom(reader, random, growth), random, growth));
  }
  return () => parts.map((part) => part()).join('');
}

function quantified(reader: Reader, part: Sampler, random: SeededRandom, growth: number): Sampler {
  const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(reader.text.slice(reader.at, reader.at + 24));
  if (found === null) return part;
  reader.at += found[0].length;
  const [, sign, least, comma, most] = found;
  const low = sign === undefined ? Number(least) : sign === '+' ? 1 : 0;
  const limit =
    sign === '?' ? 1 : sign !== undefined || (comma === ',' && most === '') ? Infinity : Number(most || least);
  const high = Math.min(limit, low + growth);
  if (high > 5_000) throw new UnknownPattern();
  return () => Array.from({ length: low + random.below(high - low + 1) }, part).join('');
}

function atom(reader: Reader, random: SeededRandom, growth: number): Sampler {
  const character = readCharacter(reader);
  switch (character) {
    case '^':
    case '$':
      return () => '';
    case '.':
      return () => random.pick(ALPHABET.slice(0, 36));
    case '[':
      return readClass(reader, random);
    case '(':
      return readGroup(reader, random, growth);
    case '\\':
      return readEscape(reader, random);
    case '*':
    case '+':
    case '?':
      throw new UnknownPattern();
    default:
      return () => character;
  }
}

function readGroup(reader: Reader, random: SeededRandom, growth: number): Sampler {
  const opening = /^\?(?::|<[A-Za-z_$][\w$]*>)/.exec(reader.text.slice(reader.at, reader.at + 80));
  if (opening === null && reader.text[reader.at] === '?') throw new UnknownPattern();
  reader.at += opening?.[0].length ?? 0;
  const inside = alternatives(reader, random, growth);
  if (reader.text[reader.at] !== ')') throw new UnknownPattern();
  reader.at += 1;
  return inside;
}

function readEscape(reader: Reader, random: SeededRandom): Sampler {
  if (/^[bB]/.test(reader.text.slice(reader.at))) {
    reader.at += 1;
    return () => '';
  }
  const members = fitting(readEscapedClass(reader));
  return () => random.pick(members);
}

function readClass(reader: Reader, random: SeededRandom): Sampler {
  const end = /^(?:\\[\s\S]|[^\]\\])*\]/.exec(reader.text.slice(reader.at));
  if (end === null) throw new UnknownPattern();
  const source = `[${end[0]}`;
  reader.at += end[0].length;
  const members = fitting(source);
  return () => random.pick(members);
}

/** The source of an escape that stands for one character or a class, for example `\d`, `\p{L}` or a Unicode escape. */
function readEscapedClass(reader: Reader): string {
  const found = /^(?:[dDwWsS]|[pP]\{[^}]+\}|u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[^a-zA-Z1-9]|[nrtfv0])/.exec(
    reader.text.slice(reader.at, reader.at + 60),
  );
  if (found === null) throw new UnknownPattern();
  reader.at += found[0].length;
  return `\\${found[0]}`;
}

/** Characters that a class takes: of the alphabet, or those that it names itself. */
function fitting(source: string): readonly string[] {
  const plain = source.length === 2 ? source[1] : undefined;
  if (plain !== undefined && /[^\w]/.test(plain)) return [plain];
  if (plain !== undefined && Object.hasOwn(ESCAPES, plain)) return [ESCAPES[plain] ?? ''];
  const takes = classTest(source);
  const named = [
    ...source.replace(/\\u\{?([\da-fA-F]+)\}?|\\x([\da-fA-F]{2})/g, (_, long, short) => hex(long ?? short)),
  ];
  const members = [...ALPHABET, ...named].filter((character) => takes.test(character));
  if (members.length === 0) throw new UnknownPattern();
  return members.slice(0, 40);
}

function hex(digits: string): string {
  const code = Number.parseInt(digits, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

function classTest(source: string): RegExp {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(`^${source}$`, flags);
    } catch {
      // Tried without `u` next.
    }
  }
  throw new UnknownPattern();
}

function readCharacter(reader: Reader): string {
  const character = String.fromCodePoint(reader.text.codePointAt(reader.at) ?? 0);
  reader.at += character.length;
  return character;
}
