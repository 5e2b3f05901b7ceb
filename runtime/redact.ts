import type { Redactor } from './ports.ts';
import { createSecretCuts } from './secret-cuts.ts';

const REDACTED = '[REDACTED]';
/** Shorter values are too likely to be ordinary words. */
const SECRET_LENGTH = 8;
/** The same for a line of a value. */
const SECRET_LINE_LENGTH = 16;

/**
 * Keys that show by their form what they are. Each begins with one of the words of {@link SIGNS}, which keeps the common
 * case, a text without any, at one cheap scan.
 */
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)/g,
  /(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,}/g,
  /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,}/g,
  /(?<![A-Za-z0-9])glpat-[A-Za-z0-9_.-]{16,}/g,
  /(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{10,}/g,
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}/g,
  /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,}/g,
  /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
];
/** What follows the word in a header: a long run of token characters, a shorter one only with a digit in it. */
const BEARER = /\b(bearer[ \t]{1,8})(?:(?=[A-Za-z._~+/-]{0,99}[0-9])[A-Za-z0-9._~+/-]{12,}|[A-Za-z._~+/-]{24,})=*/gi;
const SIGNS =
  'sk-|AKIA|ASIA|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|xox[a-z]-|AIza|npm_|eyJ|-----BEGIN|earer\\s|BEARER\\s';

/**
 * Makes a redactor for exact values (of eight characters and more) and for keys of known forms.
 *
 * Contract:
 * - A value is found also where it stands in JSON text, with its quotes and backslashes escaped; a long line of one that has
 *   several is a secret too, since tools show lines.
 * - A text that ends inside a secret, as a shortened preview does, loses that beginning too (with or without an ellipsis
 *   and a note of what is missing).
 * - `json` gives back the same object when nothing in it was a secret; otherwise a copy.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const values = [...new Set(secrets.flatMap(linesOf).flatMap(writtenForms))].filter(
    (secret) => secret.length >= SECRET_LENGTH,
  );
  values.sort((a, b) => b.length - a.length);
  const heads = [...new Set(values.map((secret) => secret.slice(0, SECRET_LENGTH)))];
  const suspicious = new RegExp([SIGNS, ...heads.map(escapeRegExp)].join('|'));

  function text(input: string): string {
    if (!suspicious.test(input)) {
      return input;
    }
    let output = input;
    for (const value of values) {
      output = output.includes(value) ? output.replaceAll(value, REDACTED) : output;
    }
    for (const value of values) {
      output = withoutCutEnd(output, value);
    }
    for (const shape of SHAPES) {
      output = output.replace(shape, REDACTED);
    }
    return output.replace(BEARER, `$1${REDACTED}`);
  }

  const cuts = createSecretCuts(values, [...SHAPES, BEARER], (input) => suspicious.test(input));
  return { text, json: (value) => redactJson(value, text) as typeof value, ...cuts };
}

const SECRET_NAME =
  /(?:^|_)(?:[A-Z0-9]*KEYS?|[A-Z0-9]*TOKENS?|[A-Z0-9]*SECRETS?|[A-Z0-9]*PASS(?:WORD|WD|PHRASE)?|PWD|[A-Z0-9]*CREDENTIALS?|[A-Z0-9]*CREDS?|AUTH|AUTHORIZATION|COOKIE|DSN|PAT)\d*(?:_|$)/i;
/** Names that a secret word stands in although their value is a place or a setting. */
const PLACE_NAME =
  /(?:^|_)(?:PATH|FILE|DIR|HOME|SOCK|SOCKET|URL|URI|ENDPOINT|HOST|PORT|TTL|LIMIT|COUNT|MODE|TYPE|NAME)$/i;
const CURRENT_DIRECTORY = /^(?:OLD)?PWD$/i;

/** Picks the values of variables whose names say that they are secret. Short values and names of places are left out. */
export function secretValuesOf(env: Readonly<Record<string, string | undefined>>): string[] {
  const values = Object.entries(env)
    .filter(([name]) => isSecretName(name))
    .map(([, value]) => value?.trim() ?? '')
    .filter((value) => value.length >= SECRET_LENGTH);
  return [...new Set(values)];
}

/** Gives an environment for programs that agents start: without the variables whose names say that they are secret. */
export function withoutSecrets(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecretName(name)));
}

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !PLACE_NAME.test(name) && !CURRENT_DIRECTORY.test(name);
}

/** A value, and those of its lines that are long enough to be nothing else. The marks of a key block are common to all keys. */
function linesOf(value: string): readonly string[] {
  const lines = value.split(/\r?\n/);
  if (lines.length === 1) return [value];
  return [value, ...lines.filter((line) => line.length >= SECRET_LINE_LENGTH && !line.startsWith('-----'))];
}

/** A value as it is, as it stands in JSON text, and in JSON text within that. */
function writtenForms(value: string): readonly string[] {
  const once = JSON.stringify(value).slice(1, -1);
  return [value, once, JSON.stringify(once).slice(1, -1)];
}

/** How texts end that were shortened: with nothing, an ellipsis, or one and how much is missing. */
const CUT_MARK = /(?:…|\.\.\.|… \[\+?\d{1,16} characters(?: cut)?\])$/;

/** Takes away the beginning of a secret at the end of a text, if it is long enough to tell. */
function withoutCutEnd(text: string, secret: string): string {
  const end = CUT_MARK.exec(text)?.index ?? text.length;
  const from = Math.max(0, end - secret.length + 1);
  for (let at = text.indexOf(secret.slice(0, SECRET_LENGTH), from); at !== -1 && at < end; ) {
    if (secret.startsWith(text.slice(at, end))) {
      return text.slice(0, at) + REDACTED + text.slice(end);
    }
    at = text.indexOf(secret.slice(0, SECRET_LENGTH), at + 1);
  }
  return text;
}

function redactJson(value: unknown, text: (input: string) => string): unknown {
  if (typeof value === 'string') {
    return text(value);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Array.isArray(value) ? redactArray(value, text) : redactObject(value as Record<string, unknown>, text);
}

function redactArray(items: readonly unknown[], text: (input: string) => string): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < items.length; i += 1) {
    const clean = redactJson(items[i], text);
    if (clean !== items[i]) {
      copy ??= [...items];
      copy[i] = clean;
    }
  }
  return copy ?? items;
}

function redactObject(members: Record<string, unknown>, text: (input: string) => string): Record<string, unknown> {
  let changed = false;
  for (const name in members) {
    const value = members[name];
    if (redactJson(value, text) !== value || text(name) !== name) {
      changed = true;
      break;
    }
  }
  return changed
    ? Object.fromEntries(Object.entries(members).map(([name, value]) => [text(name), redactJson(value, text)]))
    : members;
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
