import { FRAGMENT_SET, percentEncode, USERINFO_SET } from './percent-encoding.ts';
import {
  DEFAULT_PORTS,
  encodeQuery,
  isSpecial,
  parseHostAndPort,
  parsePath,
  parseUrl,
  serializeHost,
  serializePath,
  serializeUrl,
  type UrlRecord,
} from './url-record.ts';
import { URLSearchParams, watchParams } from './url-search-params.ts';

/** Source: URL Standard, URL class. Setters that are given nonsense leave the URL as it is, as the standard says. */
export class URL {
  #url: UrlRecord;
  #params: URLSearchParams | undefined;

  constructor(url: unknown, base?: unknown) {
    const parsed = parseWithBase(url, base);
    if (parsed === undefined) throw new TypeError(`Invalid URL: ${String(url)}`);
    this.#url = parsed;
  }

  static canParse(url: unknown, base?: unknown): boolean {
    return parseWithBase(url, base) !== undefined;
  }

  static parse(url: unknown, base?: unknown): URL | null {
    return URL.canParse(url, base) ? new URL(url, base) : null;
  }

  get href(): string {
    return serializeUrl(this.#url);
  }

  set href(text: string) {
    const parsed = parseUrl(String(text));
    if (parsed === undefined) throw new TypeError(`Invalid URL: ${text}`);
    this.#url = parsed;
    this.#params = undefined;
  }

  get origin(): string {
    const { scheme } = this.#url;
    return isSpecial(scheme) && scheme !== 'file:' ? `${scheme}//${this.host}` : 'null';
  }

  get protocol(): string {
    return this.#url.scheme;
  }

  set protocol(text: string) {
    const scheme = /^([a-z][a-z0-9+.-]*)(?::|$)/i.exec(String(text))?.[1]?.toLowerCase();
    if (scheme === undefined || isSpecial(`${scheme}:`) !== isSpecial(this.#url.scheme)) return;
    if (scheme === 'file' && (this.#hasCredentials || this.#url.port !== null)) return;
    if (this.#url.scheme === 'file:' && this.#url.host === '') return;
    this.#url.scheme = `${scheme}:`;
    if (this.#url.port === DEFAULT_PORTS[this.#url.scheme]) this.#url.port = null;
  }

  get username(): string {
    return this.#url.username;
  }

  set username(text: string) {
    if (this.#hasPlaceForAuthority) this.#url.username = percentEncode(String(text), USERINFO_SET);
  }

  get password(): string {
    return this.#url.password;
  }

  set password(text: string) {
    if (this.#hasPlaceForAuthority) this.#url.password = percentEncode(String(text), USERINFO_SET);
  }

  get host(): string {
    return serializeHost(this.#url);
  }

  set host(text: string) {
    const place = this.#parsePlace(String(text));
    if (place === undefined) return;
    this.#url.host = place.host;
    if (/:\d/.test(String(text).replace(/^\[.*\]/, ''))) this.#url.port = place.port;
  }

  get hostname(): string {
    return this.#url.host ?? '';
  }

  set hostname(text: string) {
    const name = String(text);
    if (/:/.test(name.replace(/^\[.*\]/, ''))) return;
    const place = this.#parsePlace(name);
    if (place !== undefined) this.#url.host = place.host;
  }

  get port(): string {
    return this.#url.port === null ? '' : String(this.#url.port);
  }

  set port(text: string) {
    if (!this.#hasPlaceForAuthority) return;
    if (String(text) === '') this.#url.port = null;
    const digits = /^\d+/.exec(String(text))?.[0];
    if (digits === undefined || Number(digits) > 65535) return;
    this.#url.port = Number(digits) === DEFAULT_PORTS[this.#url.scheme] ? null : Number(digits);
  }

  get pathname(): string {
    return serializePath(this.#url);
  }

  set pathname(text: string) {
    const { scheme, path } = this.#url;
    if (typeof path === 'string') return;
    const clean = String(text)
      .toWellFormed()
      .replace(/[\t\n\r]/g, '');
    if (clean === '' && !isSpecial(scheme)) this.#url.path = [];
    else this.#url.path = parsePath(scheme, [], clean.replace(isSpecial(scheme) ? /^[/\\]/ : /^\//, ''));
  }

  get search(): string {
    return this.#url.query === null || this.#url.query === '' ? '' : `?${this.#url.query}`;
  }

  set search(text: string) {
    const query = String(text)
      .replace(/^\?/, '')
      .replace(/[\t\n\r]/g, '');
    this.#url.query = String(text) === '' ? null : encodeQuery(this.#url.scheme, query);
    this.#params = undefined;
  }

  get searchParams(): URLSearchParams {
    if (this.#params === undefined) {
      this.#params = new URLSearchParams(`?${this.#url.query ?? ''}`);
      watchParams.set(this.#params, (query) => {
        this.#url.query = query === '' ? null : query;
      });
    }
    return this.#params;
  }

  get hash(): string {
    return this.#url.fragment === null || this.#url.fragment === '' ? '' : `#${this.#url.fragment}`;
  }

  set hash(text: string) {
    const fragment = String(text)
      .replace(/^#/, '')
      .replace(/[\t\n\r]/g, '');
    this.#url.fragment = String(text) === '' ? null : percentEncode(fragment, FRAGMENT_SET);
  }

  toString(): string {
    return this.href;
  }

  toJSON(): string {
    return this.href;
  }

  get [Symbol.toStringTag](): string {
    return 'URL';
  }

  get #hasCredentials(): boolean {
    return this.#url.username !== '' || this.#url.password !== '';
  }

  get #hasPlaceForAuthority(): boolean {
    return this.#url.host !== null && this.#url.host !== '' && this.#url.scheme !== 'file:';
  }

  #parsePlace(text: string): { host: string; port: number | null } | undefined {
    const { scheme, path } = this.#url;
    if (typeof path === 'string') return undefined;
    return parseHostAndPort(
      scheme,
      (text.split(isSpecial(scheme) ? /[/\\?#]/ : /[/?#]/)[0] as string).replace(/[\t\n\r]/g, ''),
    );
  }
}

function parseWithBase(url: unknown, base: unknown): UrlRecord | undefined {
  if (base === undefined) return parseUrl(String(url));
  const parsedBase = parseUrl(String(base));
  return parsedBase === undefined ? undefined : parseUrl(String(url), parsedBase);
}
