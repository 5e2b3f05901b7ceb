import type { Token } from 'acorn';
import { binaryHint } from './binary-hint.ts';
import type { ScriptFile } from './script-file.ts';
import { readTokens } from './script-head.ts';

const BACKTICK =
  'A backtick inside a template prompt ends the template. Write \\` for a backtick that belongs to the text, or quote the prompt otherwise.';
const TYPESCRIPT =
  'This is TypeScript syntax, and the script is JavaScript. Remove the types, or give the file the extension .ts.';

/**
 * The usual mistake behind a syntax error, if it is one. Source: spec S-6.
 *
 * @param isTyped - Tells whether the script parses once its types are stripped; asked only when no nearer cause is found, since
 *   text between two stray backticks can read as a type.
 */
export function syntaxHint(
  file: ScriptFile,
  offset: number,
  message: string,
  isTyped: () => boolean,
): string | undefined {
  const { source } = file;
  if (message !== 'Unterminated template' && source[offset - 1] === '`') return BACKTICK;
  if (isTyped()) return TYPESCRIPT;
  const before = tokensBefore(source, offset);
  return (
    binaryHint(source) ??
    substitutionHint(source, before, offset) ??
    templateHint(source, before, offset, message) ??
    wordHint(source, offset, message)
  );
}

function tokensBefore(source: string, offset: number): readonly Token[] {
  const tokens: Token[] = [];
  for (const token of readTokens(source)) {
    if (token.end > offset) break;
    tokens.push(token);
  }
  return tokens;
}

/** An error on the line of the `${` that is still open there. */
function substitutionHint(source: string, before: readonly Token[], offset: number): string | undefined {
  const open: Token[] = [];
  for (const token of before) {
    if (token.type.label === '${' || token.type.label === '{') open.push(token);
    if (token.type.label === '}') open.pop();
  }
  const start = open.findLast((token) => token.type.label === '${')?.start;
  if (start === undefined || source.slice(start, offset).includes('\n')) return undefined;
  const shown = /^\$\{[^\n}`]{0,60}\}*/.exec(source.slice(start))?.[0] ?? '${';
  return `Inside a template \`\${…}\` is JavaScript. If the prompt is to contain the text ${shown} itself, write \\${shown}`;
}

function templateHint(source: string, before: readonly Token[], offset: number, message: string): string | undefined {
  if (message === 'Unterminated template') {
    return 'The template is never closed: its last backtick is missing, or a backtick of the text is not written as \\`.';
  }
  const last = before.at(-1);
  const afterTemplate = last?.type.label === '`' && !source.slice(last.end, offset).includes('\n');
  return afterTemplate && /^[\w$`#@\\]/.test(source.slice(offset, offset + 1)) ? BACKTICK : undefined;
}

function wordHint(source: string, offset: number, message: string): string | undefined {
  const rest = source.slice(offset, offset + 6);
  if (/^await(?![\w$])/.test(rest) || /keyword 'await'/.test(message)) {
    return '`await` needs an async function: write `async` before the innermost function around it.';
  }
  return /^[\u2018\u2019\u201C\u201D]/.test(rest) ? 'Replace typographic quotation marks by straight ones.' : undefined;
}
