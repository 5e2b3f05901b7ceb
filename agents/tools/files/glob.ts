import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';
import { globToRegex } from './glob-pattern.ts';
import { walkFiles } from './walk-files.ts';
import { resolveInWorkspace } from './workspace.ts';

const MAX_FILES = 1_000;

/** Lists files whose path matches a glob. Read only. */
export const globTool = defineTool({
  name: 'Glob',
  description:
    'Lists the files whose path matches a glob, such as "src/**/*.ts" or "*.{md,txt}". A pattern without a slash matches in the directory itself; put **/ before it to search below. Links, .git and node_modules are left out.',
  access: 'read',
  input: z.object({
    pattern: z.string().min(1).describe('Glob, matched against the path as seen from the directory searched'),
    path: z.string().optional().describe('Directory to search; the working directory when left out'),
  }),
  async subject({ path: directory = '.' }, cwd) {
    const { relative, asGiven } = await resolveInWorkspace(cwd, directory);
    return { path: relative, alias: asGiven };
  },
  async run({ pattern, path: directory = '.' }, { cwd, signal, session }) {
    const { RE2JS } = await import('re2js');
    const regex = RE2JS.compile(globToRegex(pattern), RE2JS.DOTALL);
    const root = await resolveInWorkspace(cwd, directory);
    const mayRead = await session.host.permissions.readFilter();
    const found: string[] = [];
    for await (const file of walkFiles(root.absolute, signal)) {
      if (!regex.matches(file.relative)) continue;
      const shownPath = root.relative === '.' ? file.relative : `${root.relative}/${file.relative}`;
      if (mayRead?.(shownPath) === false) continue;
      if (found.length === MAX_FILES) {
        found.push(`[more than ${MAX_FILES} files match; the rest is left out]`);
        break;
      }
      found.push(shownPath);
    }
    return {
      text: found.length === 0 ? `No file matches ${pattern}.` : found.join('\n'),
      isError: false,
      summary: `${Math.min(found.length, MAX_FILES)} files match ${pattern}`,
    };
  },
});
