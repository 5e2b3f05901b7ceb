/** The head of a Markdown file, read leniently, and what follows it. */
export interface FrontMatter {
  /** Each field as the list of its values; a plain text that has commas is such a list as well. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  readonly body: string;
}

const HEAD = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*$\r?\n?/m;

/**
 * Splits Markdown from its `key: value` head. Takes `a, b`, `[a, b]` and `- a` lines as lists, and quotes around values.
 * Anything else is kept as text, since descriptions in the wild are often no valid YAML.
 */
export function readFrontMatter(text: string): FrontMatter {
  const head = text.search(HEAD) === 0 ? HEAD.exec(text) : null;
  if (head === null) return { fields: new Map(), body: text };
  const fields = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const line of (head[1] ?? '').split(/\r?\n/)) {
    const item = /^\s*-\s+(.*)$/.exec(line)?.[1];
    const pair = /^([A-Za-z][\w-]*):\s*(.*)$/.exec(line);
    if (item !== undefined) current?.push(unquote(item));
    else if (pair?.[1] !== undefined) {
      current = valuesOf(pair[2] ?? '');
      fields.set(pair[1], current);
    }
  }
  return { fields, body: text.slice(head[0].length) };
}

function valuesOf(text: string): string[] {
  const inside = /^\[(.*)\]\s*$/.exec(text)?.[1] ?? text;
  if (/^(["']).*\1\s*$/.test(text)) return [unquote(text)];
  return inside
    .split(',')
    .map(unquote)
    .filter((value) => value !== '');
}

function unquote(text: string): string {
  const trimmed = text.trim();
  return /^(["'])(.*)\1$/.exec(trimmed)?.[2] ?? trimmed;
}
