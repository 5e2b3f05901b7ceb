/** The head of a Markdown file, read leniently, and what follows it. */
export interface FrontMatter {
  /** Each field as the list of its values; a plain text that has commas is such a list as well. A field without a value is left out. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  readonly body: string;
}

interface Field {
  readonly values: string[];
  /** How the lines of a text over several lines are joined; undefined for another kind of value. */
  readonly join: '\n' | ' ' | undefined;
  /** It has a value, if only an empty list. */
  filled: boolean;
}

const HEAD = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*$\r?\n?/m;

/**
 * Splits Markdown from its `key: value` head. Takes `a, b`, `[a, b]` and `- a` lines as lists, `|` and `>` for texts over
 * several lines, comment lines, and quotes around values. Anything else is kept as text: descriptions in the wild, such as
 * `Use when: the user asks`, are no valid YAML, and a reader of YAML refuses them.
 */
export function readFrontMatter(text: string): FrontMatter {
  const head = text.search(HEAD) === 0 ? HEAD.exec(text) : null;
  if (head === null) return { fields: new Map(), body: text };
  const fields = new Map<string, Field>();
  let current: Field | undefined;
  for (const line of (head[1] ?? '').split(/\r?\n/)) {
    const pair = /^([A-Za-z][\w-]*):\s*(.*)$/.exec(line);
    if (pair?.[1] !== undefined) {
      current = fieldOf((pair[2] ?? '').trim());
      fields.set(pair[1], current);
    } else if (current !== undefined) continueField(current, line);
  }
  const filled = [...fields].filter(([, field]) => field.filled);
  return { fields: new Map(filled.map(([name, field]) => [name, valuesOf(field)])), body: text.slice(head[0].length) };
}

function fieldOf(text: string): Field {
  if (/^[|>][+-]?$/.test(text)) return { values: [], join: text.startsWith('|') ? '\n' : ' ', filled: false };
  return { values: splitValues(text), join: undefined, filled: text !== '' };
}

function continueField(field: Field, line: string): void {
  const item = /^\s*-\s+(.*)$/.exec(line)?.[1];
  if (field.join !== undefined) field.values.push(line.trim());
  else if (item !== undefined) field.values.push(unquote(item));
  else return;
  field.filled = true;
}

function valuesOf({ values, join }: Field): readonly string[] {
  return join === undefined ? values : [values.join(join).trim()];
}

function splitValues(text: string): string[] {
  const inside = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  if (/^(["']).*\1$/.test(text)) return [unquote(text)];
  return inside
    .split(',')
    .map(unquote)
    .filter((value) => value !== '');
}

function unquote(text: string): string {
  const trimmed = text.trim();
  return /^(["'])(.*)\1$/.exec(trimmed)?.[2] ?? trimmed;
}
