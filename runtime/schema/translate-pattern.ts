/** What ECMA-262 calls white space and line ends, as members of a class of RE2. */
const WHITE_SPACE = '\\t-\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}';
const LINE_END = '\\n\\r\\x{2028}\\x{2029}';

/** Long names of general categories. Source: Unicode property value aliases, as ECMA-262 takes them. */
const CATEGORY_NAMES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Titlecase_Letter: 'Lt',
  Modifier_Letter: 'Lm',
  Other_Letter: 'Lo',
  Mark: 'M',
  Nonspacing_Mark: 'Mn',
  Number: 'N',
  Decimal_Number: 'Nd',
  Letter_Number: 'Nl',
  Other_Number: 'No',
  Punctuation: 'P',
  Dash_Punctuation: 'Pd',
  Symbol: 'S',
  Currency_Symbol: 'Sc',
  Math_Symbol: 'Sm',
  Separator: 'Z',
  Space_Separator: 'Zs',
  Other: 'C',
  Control: 'Cc',
};

const TOKEN = new RegExp(
  [
    String.raw`\\u[dD][89aAbB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}`,
    String.raw`\\[pP]\{[^}]*\}`,
    String.raw`\\k<`,
    String.raw`\\[\s\S]`,
    String.raw`\(\?<?[=!]`,
    String.raw`[[\].]`,
  ].join('|'),
  'g',
);

/** A pattern for RE2, or what it would need backtracking for. */
export type TranslatedPattern = { readonly source: string } | { readonly needs: string };

/**
 * Rewrites what RE2 reads in another way than ECMA-262: white space and line ends beyond ASCII, surrogate pairs, long
 * property names. Expects a valid ECMA-262 pattern.
 */
export function translatePattern(source: string): TranslatedPattern {
  let inClass = false;
  let needs: string | undefined;
  const translated = source.replace(TOKEN, (token) => {
    if (token === '[' || token === ']') {
      inClass = token === '[';
      return token;
    }
    if (!inClass) needs ??= backtrackingNeed(token);
    return translateToken(token, inClass);
  });
  return needs === undefined ? { source: translated } : { needs };
}

function backtrackingNeed(token: string): string | undefined {
  if (token === '(?=' || token === '(?!') return 'it looks ahead';
  if (token === '(?<=' || token === '(?<!') return 'it looks behind';
  if (token === '\\k<' || /^\\[1-9]$/.test(token)) return 'it has a backreference';
  return undefined;
}

function translateToken(token: string, inClass: boolean): string {
  if (token === '.') return inClass ? token : `[^${LINE_END}]`;
  if (token === '\\s') return inClass ? WHITE_SPACE : `[${WHITE_SPACE}]`;
  if (token === '\\S' && !inClass) return `[^${WHITE_SPACE}]`;
  if (/^\\u[dD]/.test(token) && token.length === 12) {
    const pair = String.fromCharCode(Number.parseInt(token.slice(2, 6), 16), Number.parseInt(token.slice(8), 16));
    return `\\x{${pair.codePointAt(0)?.toString(16)}}`;
  }
  const property = /^(\\[pP])\{(?:(?:Script|sc|Script_Extensions|scx|General_Category|gc)=)?(.*)\}$/.exec(token);
  return property === null ? token : `${property[1]}{${CATEGORY_NAMES[property[2] ?? ''] ?? property[2]}}`;
}
