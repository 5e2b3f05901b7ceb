/** A shell command taken apart into the programs that it runs, each as its words; or why that cannot be done safely. */
export type ShellReading =
  | { readonly plain: true; readonly commands: readonly (readonly string[])[] }
  | { readonly plain: false; readonly why: string };

/** Words that begin something other than a program. */
const KEYWORDS: ReadonlySet<string> = new Set(
  '! { } [[ ]] if then elif else fi for while until do done case esac select function time coproc eval exec source . trap'.split(
    ' ',
  ),
);
/** Redirections that write nothing and read nothing of a file. */
const HARMLESS_REDIRECT = /^(?:\d*>{1,2}|&>{1,2})[ \t]*\/dev\/null(?=[\s;|&]|$)|^\d*>&\d(?=[\s;|&]|$)/;

/**
 * Reads a command for an allow rule. Only what is certain counts: lists, pipes and quoted words are taken apart, and
 * whatever could run or change something that is not in view (substitutions, redirections to files, assignments,
 * keywords, expansions in a program's name) makes the command one that no partial rule allows.
 */
export function readShellCommand(text: string): ShellReading {
  const reader = new ShellReader(text);
  return reader.read();
}

class ShellReader {
  readonly #text: string;
  #at = 0;
  readonly #commands: string[][] = [];
  #words: string[] = [];
  /** The word under way; undefined between words. */
  #word: string | undefined;
  /** The word holds something that bash replaces by other text. */
  #expands = false;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ShellReading {
    while (this.#at < this.#text.length) {
      const why = this.#step();
      if (why !== undefined) return { plain: false, why };
    }
    const why = this.#endCommand();
    if (why !== undefined) return { plain: false, why };
    if (this.#commands.length === 0) return { plain: false, why: 'it is empty' };
    return { plain: true, commands: this.#commands };
  }

  #step(): string | undefined {
    const rest = this.#text.slice(this.#at);
    const char = rest.charAt(0);
    if (char === ' ' || char === '\t') return this.#skip(1, this.#endWord());
    if (/^(?:\n|;(?!;)|&&|\|\||\|&?|&(?!>))/.test(rest)) {
      return this.#skip(/^(?:&&|\|\||\|&)/.test(rest) ? 2 : 1, this.#endCommand());
    }
    if (this.#word === undefined || /^\d+$/.test(this.#word)) {
      const redirect = HARMLESS_REDIRECT.exec((this.#word ?? '') + rest)?.[0];
      if (redirect !== undefined) return this.#skipRedirect(redirect);
    }
    if (char === '#' && this.#word === undefined) return this.#skip(/^[^\n]*/.exec(rest)?.[0].length ?? 1, undefined);
    if (/^[<>]|^&>/.test(rest)) return 'it redirects to or from a file';
    if (/^[()]/.test(rest)) return 'it has a subshell or a function';
    if (char === '`' || rest.startsWith('$(')) return 'it has a command substitution';
    if (char === "'") return this.#singleQuoted(rest);
    if (char === '"') return this.#doubleQuoted();
    if (char === '\\') return this.#escaped(rest);
    if (char === '$') return this.#expansion(rest);
    return this.#add(char, 1);
  }

  #skip(length: number, why: string | undefined): string | undefined {
    this.#at += length;
    return why;
  }

  #skipRedirect(redirect: string): undefined {
    this.#at += redirect.length - (this.#word ?? '').length;
    this.#word = undefined;
  }

  #add(text: string, length: number): undefined {
    this.#word = (this.#word ?? '') + text;
    this.#at += length;
  }

  #singleQuoted(rest: string): string | undefined {
    const end = rest.indexOf("'", 1);
    return end < 0 ? 'a quote is left open' : this.#add(rest.slice(1, end), end + 1);
  }

  #doubleQuoted(): string | undefined {
    this.#word ??= '';
    for (this.#at += 1; this.#at < this.#text.length; ) {
      const rest = this.#text.slice(this.#at);
      const char = rest.charAt(0);
      if (char === '"') return this.#skip(1, undefined);
      if (char === '`' || rest.startsWith('$(')) return 'it has a command substitution';
      const why =
        char === '$' ? this.#expansion(rest) : /^\\[$`"\\\n]/.test(rest) ? this.#escaped(rest) : this.#add(char, 1);
      if (why !== undefined) return why;
    }
    return 'a quote is left open';
  }

  #escaped(rest: string): string | undefined {
    if (rest.length === 1) return 'it ends in a backslash';
    return rest.charAt(1) === '\n' ? this.#skip(2, undefined) : this.#add(rest.charAt(1), 2);
  }

  #expansion(rest: string): string | undefined {
    const plain = /^\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|[?#$!*@0-9-])/.exec(rest)?.[0];
    if (plain === undefined && /^\$(?=[\s;|&"]|$)/.test(rest)) return this.#add('$', 1);
    if (plain === undefined) return 'it has an expansion that can run commands';
    this.#expands = true;
    return this.#add(plain, plain.length);
  }

  #endWord(): string | undefined {
    const word = this.#word;
    this.#word = undefined;
    if (word === undefined) return undefined;
    const expands = this.#expands;
    this.#expands = false;
    if (this.#words.length === 0) {
      if (expands) return 'the name of a program is computed';
      if (KEYWORDS.has(word)) return `it uses ${word}`;
      if (/^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/.test(word)) return 'it sets variables';
    }
    // Builtins such as printf -v read a subscript as arithmetic, which runs what is substituted in it, quoted or not.
    if (/\[[^\]]*(?:\$\(|`)/.test(word)) return 'it has a subscript that can run commands';
    this.#words.push(word);
    return undefined;
  }

  #endCommand(): string | undefined {
    const why = this.#endWord();
    if (this.#words.length > 0) this.#commands.push(this.#words);
    this.#words = [];
    return why;
  }
}

/**
 * Tells whether the words stand one after another anywhere in a command: in a quoted text, a substitution, behind `env` or
 * a path too. For deny rules, where too much is better than too little.
 */
export function mentionsWords(command: string, words: readonly string[]): boolean {
  const tokens = tokensOf(command);
  const wanted = tokensOf(words.join(' ')).filter((word) => word !== '');
  return tokens.some((_, at) => wanted.every((word, index) => tokens[at + index] === word));
}

/** `/usr/bin/rm` is `rm`. */
function tokensOf(text: string): readonly string[] {
  return text
    .replace(/\\\n/g, '')
    .replace(/["'\\]/g, '')
    .split(/[\s;&|()<>$`{}=,]+/)
    .map((word) => (/^\.{0,2}\//.test(word) ? word.slice(word.lastIndexOf('/') + 1) : word));
}
