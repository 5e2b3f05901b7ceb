import { isArray } from '../primordials.ts';
import { percentBytes, percentDecode } from './percent-encoding.ts';

type Pair = [name: string, value: string];

/** Makes the list of a URL's parameters tell the URL when it changes. Not reachable by scripts. */
export const watchParams = new WeakMap<URLSearchParams, (query: string) => void>();

/** Source: URL Standard, URLSearchParams. */
export class URLSearchParams {
  #pairs: Pair[];

  constructor(init: unknown = '') {
    this.#pairs = readInit(init);
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: unknown, value: unknown): void {
    this.#pairs.push([textOf(name), textOf(value)]);
    this.#changed();
  }

  delete(name: unknown, value?: unknown): void {
    this.#pairs = this.#pairs.filter((pair) => !matches(pair, name, value));
    this.#changed();
  }

  get(name: unknown): string | null {
    return this.#pairs.find((pair) => matches(pair, name))?.[1] ?? null;
  }

  getAll(name: unknown): string[] {
    return this.#pairs.filter((pair) => matches(pair, name)).map(([, value]) => value);
  }

  has(name: unknown, value?: unknown): boolean {
    return this.#pairs.some((pair) => matches(pair, name, value));
  }

  set(name: unknown, value: unknown): void {
    const first = this.#pairs.find((pair) => matches(pair, name));
    if (first === undefined) this.#pairs.push([textOf(name), textOf(value)]);
    else {
      first[1] = textOf(value);
      this.#pairs = this.#pairs.filter((pair) => pair === first || !matches(pair, name));
    }
    this.#changed();
  }

  sort(): void {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#changed();
  }

  forEach(callback: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }

  *entries(): Generator<Pair> {
    for (let at = 0; at < this.#pairs.length; at++) yield [...(this.#pairs[at] as Pair)];
  }

  *keys(): Generator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): Generator<string> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<Pair> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return 'URLSearchParams';
  }

  toString(): string {
    return this.#pairs.map(([name, value]) => `${encodeForm(name)}=${encodeForm(value)}`).join('&');
  }

  #changed(): void {
    watchParams.get(this)?.(this.toString());
  }
}

function textOf(value: unknown): string {
  return String(value).toWellFormed();
}

function matches([name, value]: Pair, wantedName: unknown, wantedValue?: unknown): boolean {
  return name === textOf(wantedName) && (wantedValue === undefined || value === textOf(wantedValue));
}

function readInit(init: unknown): Pair[] {
  if (typeof init !== 'object' || init === null) return parseForm(textOf(init).replace(/^\?/, ''));
  if (Symbol.iterator in init) return Array.from(init as Iterable<unknown>, readPair);
  return Object.entries(init).map(([name, value]) => [name.toWellFormed(), textOf(value)]);
}

function readPair(pair: unknown): Pair {
  const both: unknown[] = isArray(pair)
    ? pair
    : typeof pair === 'object' && pair !== null
      ? [...(pair as Iterable<unknown>)]
      : [];
  if (both.length !== 2) throw new TypeError('URLSearchParams takes pairs of a name and a value.');
  return [textOf(both[0]), textOf(both[1])];
}

/** Source: URL Standard, application/x-www-form-urlencoded parsing. */
function parseForm(text: string): Pair[] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      const [name, value] = equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
      return [decodeForm(name), decodeForm(value)];
    });
}

function decodeForm(text: string): string {
  return percentDecode(text.replaceAll('+', ' '));
}

function encodeForm(text: string): string {
  let encoded = '';
  for (const character of text) {
    if (/^[a-zA-Z0-9*._-]$/.test(character)) encoded += character;
    else encoded += character === ' ' ? '+' : percentBytes(character);
  }
  return encoded;
}
