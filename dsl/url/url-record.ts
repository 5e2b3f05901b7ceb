import { parseHost } from './parse-host.ts';
import {
  CONTROL_SET,
  FRAGMENT_SET,
  PATH_SET,
  percentEncode,
  QUERY_SET,
  SPECIAL_QUERY_SET,
  USERINFO_SET,
} from './percent-encoding.ts';

/** A parsed URL. Source: URL Standard, URL representation. */
export interface UrlRecord {
  scheme: string;
  username: string;
  password: string;
  /** Serialised; null when there is none. */
  host: string | null;
  port: number | null;
  /** Segments, or one text when it is opaque, as in `mailto:`. */
  path: string[] | string;
  query: string | null;
  fragment: string | null;
}

export const DEFAULT_PORTS: Readonly<Record<string, number | null>> = {
  'http:': 80,
  'https:': 443,
  'ws:': 80,
  'wss:': 443,
  'ftp:': 21,
  'file:': null,
};

export function isSpecial(scheme: string): boolean {
  return Object.hasOwn(DEFAULT_PORTS, scheme);
}

/** Parses a URL, relative to a base if there is one; undefined when it is none. Source: URL Standard, URL parsing. */
export function parseUrl(input: string, base?: UrlRecord): UrlRecord | undefined {
  const text = input
    .toWellFormed()
    .replace(/^[\0-\x20]+|[\0-\x20]+$/g, '')
    .replace(/[\t\n\r]/g, '');
  const [, scheme, rest] = /^(?:([a-z][a-z0-9+.-]*:))?(.*)$/is.exec(text) as unknown as [
    string,
    string | undefined,
    string,
  ];
  const [, body, queryMark, fragmentMark] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rest) as unknown as string[];
  const parts = { body: body ?? '', query: queryMark?.slice(1) ?? null, fragment: fragmentMark?.slice(1) ?? null };
  // Only a fragment can be relative to an opaque path.
  if (scheme === undefined && typeof base?.path === 'string' && parts.fragment === null) return undefined;
  const url = parseBody(scheme?.toLowerCase(), parts.body, parts.query !== null, base);
  if (url === undefined) return undefined;
  if (parts.query !== null) url.query = encodeQuery(url.scheme, parts.query);
  if (parts.fragment !== null) url.fragment = percentEncode(parts.fragment, FRAGMENT_SET);
  return url;
}

export function encodeQuery(scheme: string, query: string): string {
  return percentEncode(query, isSpecial(scheme) ? SPECIAL_QUERY_SET : QUERY_SET);
}

function parseBody(
  scheme: string | undefined,
  body: string,
  hasQuery: boolean,
  base: UrlRecord | undefined,
): UrlRecord | undefined {
  if (scheme === undefined) {
    if (base === undefined) return undefined;
    if (typeof base.path === 'string') {
      return body === '' && !hasQuery ? { ...base, fragment: null } : undefined;
    }
    return base.scheme === 'file:' ? parseFile(body, hasQuery, base) : parseRelative(base, body, hasQuery);
  }
  if (scheme === 'file:') return parseFile(body, hasQuery, base?.scheme === 'file:' ? base : undefined);
  if (isSpecial(scheme)) {
    if (base?.scheme === scheme && !/^\/\//.test(body)) return parseRelative(base, body, hasQuery);
    return parseAuthority(scheme, body.replace(/^[/\\]*/, ''));
  }
  if (body.startsWith('//')) return parseAuthority(scheme, body.slice(2));
  const url = blank(scheme);
  if (body.startsWith('/')) url.path = parsePath(scheme, [], body.slice(1));
  else url.path = percentEncode(body, CONTROL_SET).replace(/ $/, '%20');
  return url;
}

function blank(scheme: string): UrlRecord {
  return { scheme, username: '', password: '', host: null, port: null, path: [], query: null, fragment: null };
}

function parseRelative(base: UrlRecord, body: string, hasQuery: boolean): UrlRecord | undefined {
  const special = isSpecial(base.scheme);
  const slash = special ? /^[/\\]/ : /^\//;
  if (slash.test(body)) {
    if (slash.test(body.slice(1))) {
      return parseAuthority(base.scheme, special ? body.replace(/^[/\\]+/, '') : body.slice(2));
    }
    return { ...base, path: parsePath(base.scheme, [], body.slice(1)), query: null, fragment: null };
  }
  const url: UrlRecord = { ...base, path: [...base.path], fragment: null };
  if (body === '') return hasQuery ? { ...url, query: null } : url;
  const path = url.path as string[];
  shorten(url.scheme, path);
  return { ...url, path: parsePath(url.scheme, path, body), query: null };
}

function parseAuthority(scheme: string, rest: string): UrlRecord | undefined {
  const special = isSpecial(scheme);
  const end = rest.search(special ? /[/\\]/ : /\//);
  const authority = end < 0 ? rest : rest.slice(0, end);
  const url = blank(scheme);
  const at = authority.lastIndexOf('@');
  if (at >= 0) {
    const credentials = authority.slice(0, at);
    const colon = credentials.indexOf(':');
    url.username = percentEncode(colon < 0 ? credentials : credentials.slice(0, colon), USERINFO_SET);
    url.password = colon < 0 ? '' : percentEncode(credentials.slice(colon + 1), USERINFO_SET);
  }
  const place = parseHostAndPort(scheme, authority.slice(at + 1));
  if (place === undefined || (at >= 0 && authority.slice(at + 1) === '')) return undefined;
  url.host = place.host;
  url.port = place.port;
  if (end >= 0) url.path = parsePath(scheme, [], rest.slice(end + 1));
  else if (special) url.path = [''];
  return url;
}

/** Parses `host` or `host:port`; undefined when it is none. */
export function parseHostAndPort(scheme: string, text: string): { host: string; port: number | null } | undefined {
  const found = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text);
  if (found === null) return undefined;
  const [, name, digits] = found as unknown as [string, string, string | undefined];
  if (name === '' && (isSpecial(scheme) || digits !== undefined)) return undefined;
  const host = name === '' ? '' : parseHost(name, isSpecial(scheme));
  if (host === undefined || (digits !== undefined && !/^\d*$/.test(digits)) || Number(digits ?? 0) > 65535)
    return undefined;
  const port = digits === undefined || digits === '' ? null : Number(digits);
  return { host, port: port === DEFAULT_PORTS[scheme] ? null : port };
}

function parseFile(body: string, hasQuery: boolean, base: UrlRecord | undefined): UrlRecord | undefined {
  const url: UrlRecord = { ...blank('file:'), host: '' };
  if (/^[/\\]{2}/.test(body)) return parseFileHost(url, body.slice(2));
  if (/^[/\\]/.test(body)) {
    const drive = base?.path[0];
    if (base !== undefined) url.host = base.host;
    const keeps = !startsWithDrive(body.slice(1)) && drive !== undefined && /^[a-z]:$/i.test(drive);
    return { ...url, path: parsePath('file:', keeps ? [drive] : [], body.slice(1)) };
  }
  if (base === undefined) return { ...url, path: parsePath('file:', [], body) };
  const inherited: UrlRecord = { ...url, host: base.host, path: [...base.path], query: base.query };
  if (body === '') return hasQuery ? { ...inherited, query: null } : inherited;
  const path = startsWithDrive(body) ? [] : (inherited.path as string[]);
  if (!startsWithDrive(body)) shorten('file:', path);
  return { ...inherited, path: parsePath('file:', path, body), query: null };
}

function parseFileHost(url: UrlRecord, rest: string): UrlRecord | undefined {
  const end = rest.search(/[/\\]/);
  const name = end < 0 ? rest : rest.slice(0, end);
  if (/^[a-z][:|]$/i.test(name)) return { ...url, path: parsePath('file:', [], rest) };
  const host = name === '' ? '' : parseHost(name, true);
  if (host === undefined) return undefined;
  return {
    ...url,
    host: host === 'localhost' ? '' : host,
    path: parsePath('file:', [], end < 0 ? '' : rest.slice(end + 1)),
  };
}

function startsWithDrive(text: string): boolean {
  return /^[a-z][:|](?:[/\\]|$)/i.test(text);
}

/** Adds the segments of `text`, which has lost its first slash, to `path`. */
export function parsePath(scheme: string, path: string[], text: string): string[] {
  const segments = text.split(isSpecial(scheme) ? /[/\\]/ : '/');
  for (const [at, segment] of segments.entries()) {
    const last = at === segments.length - 1;
    if (/^(\.|%2e)(\.|%2e)$/i.test(segment)) {
      shorten(scheme, path);
      if (last) path.push('');
    } else if (/^(\.|%2e)$/i.test(segment)) {
      if (last) path.push('');
    } else if (scheme === 'file:' && path.length === 0 && /^[a-z][:|]$/i.test(segment)) path.push(`${segment[0]}:`);
    else path.push(percentEncode(segment, PATH_SET));
  }
  return path;
}

function shorten(scheme: string, path: string[]): void {
  if (scheme === 'file:' && path.length === 1 && /^[a-z]:$/i.test(path[0] as string)) return;
  path.pop();
}

export function serializePath(url: UrlRecord): string {
  return typeof url.path === 'string' ? url.path : url.path.map((segment) => `/${segment}`).join('');
}

export function serializeHost(url: UrlRecord): string {
  if (url.host === null) return '';
  return url.port === null ? url.host : `${url.host}:${url.port}`;
}

export function serializeUrl(url: UrlRecord): string {
  let text = url.scheme;
  if (url.host !== null) {
    const password = url.password === '' ? '' : `:${url.password}`;
    const credentials = url.username === '' && password === '' ? '' : `${url.username}${password}@`;
    text += `//${credentials}${serializeHost(url)}`;
  } else if (typeof url.path !== 'string' && url.path.length > 1 && url.path[0] === '') text += '/.';
  text += serializePath(url);
  if (url.query !== null) text += `?${url.query}`;
  return url.fragment === null ? text : `${text}#${url.fragment}`;
}
