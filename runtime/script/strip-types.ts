import { createRequire } from 'node:module';
import { displayWidth } from './display-width.ts';
import type { ParseResult } from './parse-wrapped.ts';

type TransformSync = typeof import('amaro').transformSync;

const WRAP_BEFORE = 'async function main() {\n';
const WRAP_AFTER = '\n}';
const require = createRequire(import.meta.url);

/**
 * Replaces the types of a script's body by spaces, so that every position holds. Source: spec S-5.
 *
 * The stripper is loaded at the first use, because it is ten times the size of the JavaScript parser.
 */
export function stripTypes(body: string): ParseResult<string> {
  const strip = loadStripper();
  try {
    // The file is wrapped because a top-level `return` is refused otherwise.
    const { code } = strip(WRAP_BEFORE + body + WRAP_AFTER, { mode: 'strip-only', module: true });
    const stripped = code.slice(WRAP_BEFORE.length, code.length - WRAP_AFTER.length);
    const fault = strippedText(body, stripped);
    if (fault === undefined) return { ok: true, value: stripped };
    return { ok: false, kind: 'syntax', message: 'Unexpected token', offset: fault };
  } catch (error) {
    if (isStripError(error)) {
      const offset = offsetOf(body, error.startLine - 1, error.startColumn);
      return { ok: false, kind: 'syntax', message: error.message, offset };
    }
    // The stack overflowed inside WebAssembly, whose memory is of no use afterwards.
    unloadStripper();
    return { ok: false, kind: 'too-deep', message: 'Nested too deeply', offset: 0 };
  }
}

/**
 * Finds text of a prompt that was taken for a type: of `Use `as` here` only `Use ` would be left. A type follows a template only
 * after a space.
 */
function strippedText(body: string, stripped: string): number | undefined {
  for (let at = body.indexOf('`'); at >= 0; at = body.indexOf('`', at + 1)) {
    if (stripped[at] === '`' && /[\w$]/.test(body[at + 1] ?? '') && stripped[at + 1] === ' ') return at + 1;
  }
  return undefined;
}

interface StripError {
  readonly code: 'UnsupportedSyntax' | 'InvalidSyntax';
  readonly message: string;
  readonly startLine: number;
  readonly startColumn: number;
}

function isStripError(error: unknown): error is StripError {
  return typeof error === 'object' && error !== null && 'startLine' in error && 'startColumn' in error;
}

function loadStripper(): TransformSync {
  return (require('amaro') as { readonly transformSync: TransformSync }).transformSync;
}

function unloadStripper(): void {
  const entry = require.resolve('amaro');
  const loaded = require.cache[entry];
  for (const child of loaded?.children ?? []) delete require.cache[child.id];
  delete require.cache[entry];
}

/** Lines count from 1, columns from 0 and in units of {@link unitsCounted}. */
function offsetOf(body: string, line: number, column: number): number {
  const lines = body.split('\n');
  const text = lines[line - 1];
  if (text === undefined) return body.length;
  const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  let unit = 0;
  let counted = 0;
  for (const character of text) {
    if (counted >= column) break;
    unit += character.length;
    counted += unitsCounted(character);
  }
  return start + unit;
}

/** What the stripper counts for a character: 4 for a tab, none for what is invisible, one more than its UTF-16 units for a wide one. */
function unitsCounted(character: string): number {
  if (character === '\t') return 4;
  const width = /\p{Cc}/u.test(character) ? 0 : displayWidth(character);
  return width === 0 ? 0 : character.length + (width === 2 ? 1 : 0);
}
