import { type Token, tokenizer } from 'acorn';

/** The tokens of a script up to the first place that is none; comments and an interpreter line are skipped. */
export function* readTokens(source: string): Generator<Token> {
  const tokens = openTokens(source);
  for (;;) {
    let token: Token;
    try {
      token = tokens.getToken();
    } catch {
      return;
    }
    if (token.type.label === 'eof') return;
    yield token;
  }
}

/** Why the first token of a script cannot be read; undefined when it can, or when there is none. */
export function tokenFailure(source: string): { readonly message: string; readonly offset: number } | undefined {
  try {
    openTokens(source).getToken();
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/ \(\d+:\d+\)$/, '') : String(error);
    return { message, offset: (error as { readonly pos?: number }).pos ?? 0 };
  }
}

/** The first `count` tokens as the author wrote them. */
export function firstTokens(source: string, count: number): readonly Token[] {
  const tokens: Token[] = [];
  for (const token of readTokens(source)) {
    tokens.push(token);
    if (tokens.length === count) break;
  }
  return tokens;
}

/** Offset of the `export` of `export const meta`, when the script begins with it; else undefined. Source: spec S-2. */
export function findMetaExport(source: string): number | undefined {
  const [first, second, third] = firstTokens(source, 3);
  if (first === undefined || second === undefined || third === undefined) return undefined;
  const matches = isWord(source, first, 'export') && isWord(source, second, 'const') && isWord(source, third, 'meta');
  return matches ? first.start : undefined;
}

export function isWord(source: string, token: Token, word: string): boolean {
  return source.slice(token.start, token.end) === word;
}

function openTokens(source: string): ReturnType<typeof tokenizer> {
  return tokenizer(source, { ecmaVersion: 'latest', sourceType: 'module' });
}
