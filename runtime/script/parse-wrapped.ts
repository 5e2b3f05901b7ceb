import { type AnyNode, type FunctionExpression, type Options, type Program, parse } from 'acorn';
import { toSourceOffset } from './wrap-program.ts';

/** Why a text is not a program; `offset` is one of the script. */
export interface ParseFailure {
  readonly kind: 'syntax' | 'too-deep' | 'html-comment' | 'unbalanced';
  readonly message: string;
  readonly offset: number;
}

export type ParseResult<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & ParseFailure);

/**
 * Parses wrapped code exactly as the engine will compile it, and gives the author's function.
 *
 * Contract: the author's text stays inside that function. A text that closes the wrapper's braces and opens others, and one whose
 * comments the two goals of the grammar read differently (`<!--`), is refused.
 */
export function parseWrapped(code: string): ParseResult<FunctionExpression> {
  let htmlComment: number | undefined;
  const parsed = attempt(code, {
    ecmaVersion: 'latest',
    sourceType: 'script',
    onComment: (_isBlock, _text, start) => {
      if (code[start] === '<' || code[start] === '-') htmlComment ??= start;
    },
  });
  if (!parsed.ok) return { ...parsed, offset: toSourceOffset(parsed.offset) };
  if (htmlComment !== undefined) {
    const message = `\`${code[htmlComment] === '<' ? '<!--' : '-->'}\` would start a comment here`;
    return { ok: false, kind: 'html-comment', message, offset: toSourceOffset(htmlComment) };
  }
  const outer = onlyExpression(parsed.value);
  const inner = outer?.type === 'FunctionExpression' ? outer.body.body[0] : undefined;
  const author = inner?.type === 'ReturnStatement' ? inner.argument : undefined;
  if (outer?.type === 'FunctionExpression' && outer.body.body.length === 1 && author?.type === 'FunctionExpression') {
    return { ok: true, value: author };
  }
  const end = author?.type === 'FunctionExpression' ? author.end - 1 : 0;
  return { ok: false, kind: 'unbalanced', message: "Unexpected token '}'", offset: toSourceOffset(end) };
}

/** Parses an unwrapped script as a module: its failures are placed better where braces or module syntax are at fault. */
export function parseAsModule(source: string): ParseResult<Program> {
  return attempt(source, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
  });
}

function onlyExpression(program: Program): AnyNode | undefined {
  const [statement] = program.body;
  return program.body.length === 1 && statement?.type === 'ExpressionStatement' ? statement.expression : undefined;
}

function attempt(input: string, options: Options): ParseResult<Program> {
  try {
    return { ok: true, value: parse(input, options) };
  } catch (error) {
    if (!(error instanceof SyntaxError) || !('pos' in error) || typeof error.pos !== 'number') throw error;
    const message = error.message.replace(/ \(\d+:\d+\)$/, '');
    return { ok: false, kind: /stack space/.test(message) ? 'too-deep' : 'syntax', message, offset: error.pos };
  }
}
