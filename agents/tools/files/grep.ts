import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { RE2JS } from 're2js';
import { z } from 'zod';
import type { Cuts } from '../../cuts.ts';
import { defineTool, type ToolContext } from '../agent-tool.ts';
import { KEY_LINE, PrivateKeyLines } from '../private-key-lines.ts';
import { looksBinary } from './binary-probe.ts';
import { globToRegex } from './glob-pattern.ts';
import { type FoundFile, walkFiles } from './walk-files.ts';
import { resolveInWorkspace } from './workspace.ts';

const DEFAULT_MATCHES = 200;
const MAX_MATCHES = 1_000;
const MAX_LINE_CHARS = 500;
/** Bytes of one file, and of all files together, that one call looks through. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** An anchor means the ends of a line here, which a look at the whole text would miss. */
const ANCHORED = /[$^]|\\[Az]/;

const grepInput = z.object({
  pattern: z.string().min(1).max(1_000).describe('Regular expression (RE2: no lookaround, no backreference)'),
  path: z.string().optional().describe('File or directory to search; the working directory when left out'),
  glob: z.string().optional().describe('Only files whose path matches this glob, such as "**/*.ts"'),
  ignore_case: z.boolean().optional(),
  mode: z.enum(['lines', 'files']).optional().describe('lines (default): file:line:text; files: only the paths'),
  limit: z.int().min(1).max(MAX_MATCHES).optional().describe(`Most results; ${DEFAULT_MATCHES} when left out`),
});

/** Searches file contents with a linear-time regular expression, so that no pattern can hang the host. Read only. */
export const grepTool = defineTool({
  name: 'Grep',
  description:
    'Searches the text of files, line by line, for a regular expression. Binary files, links, .git and node_modules are left out.',
  access: 'read',
  input: grepInput,
  async subject({ path: where = '.' }, cwd) {
    const { relative, asGiven } = await resolveInWorkspace(cwd, where);
    return { path: relative, alias: asGiven };
  },
  async run(input, context) {
    const { RE2JS } = await import('re2js');
    const search = new Search(
      RE2JS.compile(input.pattern, input.ignore_case === true ? RE2JS.CASE_INSENSITIVE : 0),
      input.glob === undefined ? undefined : RE2JS.compile(globToRegex(input.glob), RE2JS.DOTALL),
      input.mode ?? 'lines',
      input.limit ?? DEFAULT_MATCHES,
      context.session.cuts,
    );
    await search.run(input.path ?? '.', context);
    const found = search.found.length === 0 ? [`Nothing matches ${input.pattern}.`] : search.found;
    return {
      text: [...found, ...search.leftOut()].join('\n'),
      isError: false,
      summary: `${search.matches} matches for ${input.pattern}`,
    };
  },
});

class Search {
  readonly found: string[] = [];
  matches = 0;
  readonly #regex: RE2JS;
  readonly #glob: RE2JS | undefined;
  readonly #mode: 'lines' | 'files';
  readonly #limit: number;
  readonly #cuts: Cuts;
  readonly #tooLarge: string[] = [];
  #bytes = 0;

  constructor(regex: RE2JS, glob: RE2JS | undefined, mode: 'lines' | 'files', limit: number, cuts: Cuts) {
    this.#regex = regex;
    this.#glob = glob;
    this.#mode = mode;
    this.#limit = limit;
    this.#cuts = cuts;
  }

  async run(where: string, { cwd, signal, session }: ToolContext): Promise<void> {
    const root = await resolveInWorkspace(cwd, where);
    const mayRead = await session.host.permissions.readFilter();
    if ((await stat(root.absolute)).isFile()) {
      await this.#searchFile({ absolute: root.absolute, relative: path.basename(root.relative) }, root.relative);
      return;
    }
    const prefix = root.relative === '.' ? '' : `${root.relative}/`;
    for await (const file of walkFiles(root.absolute, signal)) {
      if (this.matches >= this.#limit || this.#bytes > MAX_TOTAL_BYTES) {
        this.found.push('[stopped here: there may be more; narrow the search with path, glob or pattern]');
        return;
      }
      if (mayRead?.(prefix + file.relative) !== false) await this.#searchFile(file, prefix + file.relative);
    }
  }

  /** A line about files that were too large to be searched, if there were any. */
  leftOut(): readonly string[] {
    const [first, ...others] = this.#tooLarge;
    if (first === undefined) return [];
    const files = others.length === 0 ? first : `${first} and ${others.length} more`;
    return [`[not searched, since larger than ${MAX_FILE_BYTES} bytes: ${files}]`];
  }

  async #searchFile(file: FoundFile, shownPath: string): Promise<void> {
    if (this.#glob !== undefined && !this.#glob.matches(file.relative)) return;
    const facts = await stat(file.absolute).catch(() => undefined);
    if (facts === undefined) return;
    if (facts.size > MAX_FILE_BYTES) {
      this.#tooLarge.push(shownPath);
      return;
    }
    const bytes = await readFile(file.absolute).catch(() => undefined);
    if (bytes === undefined || looksBinary(bytes)) return;
    this.#bytes += bytes.length;
    this.#searchText(bytes.toString('utf8'), shownPath);
  }

  #searchText(text: string, shownPath: string): void {
    if (!ANCHORED.test(this.#regex.pattern()) && !this.#regex.matcher(text).find()) return;
    const keys = new PrivateKeyLines();
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      const isInKey = keys.isInside(line);
      if (!this.#regex.matcher(line).find()) continue;
      this.matches += 1;
      const shown = isInKey ? KEY_LINE : this.#cuts.slice(line, 0, MAX_LINE_CHARS);
      this.found.push(this.#mode === 'files' ? shownPath : `${shownPath}:${index + 1}:${shown}`);
      if (this.#mode === 'files' || this.matches >= this.#limit) return;
    }
  }
}
