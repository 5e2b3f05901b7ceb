/**
 * How the bundle is cut into files. Each file costs a start about half a millisecond, and its size a little, so:
 *
 * - what every run executes is in two files, one of the library and one of the command line ({@link EVERY_RUN});
 * - what only some runs execute, and then in the midst of synchronous code, is in files of its own, loaded with `require`
 *   ({@link LATE}). Such a source has a `require` made by `createRequire` on a line of its own;
 * - what is imported dynamically otherwise is cut as esbuild does it;
 * - of Node's own modules only the members in use are touched ({@link builtin}).
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin, PluginBuild } from 'esbuild';

/** Loaded by every `wf run` and `wf resume`; what they import comes with them. */
export const EVERY_RUN: Readonly<Record<'library' | 'cli', readonly string[]>> = {
  library: [
    'runtime/start-workflow.ts',
    'runtime/resume-workflow.ts',
    'cache/run-store.ts',
    'emitters/stream-json.ts',
    'emitters/slow-reader.ts',
    'agents/agent-types.ts',
    'agents/hooks/load-hooks.ts',
    'agents/scripted/scripted-backend.ts',
    'agents/scripted/load-responses-file.ts',
    'hosts/saved-workflows/find-workflow.ts',
    'hosts/saved-workflows/kill-switch.ts',
  ],
  cli: ['cli/run-cli.ts', 'cli/commands/run.ts', 'cli/commands/resume.ts'],
};

/** By the name that sources require: what the file holds. */
const LATE: Readonly<Record<string, string>> = {
  'ajv/dist/2020.js': commonJs('ajv/dist/2020.js'),
  'ajv-formats': commonJs('ajv-formats'),
  re2js: "export * from 're2js';",
  'protocol/responses-file.ts': "export * from './protocol/responses-file.ts';",
  'protocol/stream-json.ts': "export * from './protocol/stream-json.ts';",
};

/** The entry of the command line, which starts the sandbox before it loads anything else. */
const FIRST = 'cli/main.ts';

const SOURCES = '{protocol,runtime,agents,cache,emitters,hosts,cli}/**/*.ts';
const DYNAMIC_IMPORT = /\bimport\('(\.[^']+)'\)/g;
/** With it, esbuild would not see what is required. */
const OWN_REQUIRE = /^const require = createRequire\(import\.meta\.url\);$/m;

/** Entry points of the late files. */
export const LATE_ENTRIES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(LATE).map((name) => [lateFile(name), `late:${name}`]),
);

/** The plugin that cuts. @param root the repository @param faces sources of the entry points, as seen from it */
export function bundleShape(root: string, faces: readonly string[]): Plugin {
  const nameOf = (file: string): string => path.relative(root, file).split(path.sep).join('/');
  const starts = new Set([...faces, ...globSync(SOURCES, { cwd: root }).flatMap((file) => importedLate(root, file))]);
  return {
    name: 'bundle-shape',
    setup(build) {
      virtual(build, 'late', (name) => LATE[name] ?? '', root);
      virtual(build, 'every-run', (part) => everyRun(part as keyof typeof EVERY_RUN), root);
      virtual(build, 'node', builtin, root);
      build.onResolve({ filter: /.*/ }, ({ kind, path: asked, resolveDir, importer }) => {
        if (kind !== 'require-call' || importer.includes('node_modules')) return undefined;
        const name = asked.startsWith('.') ? nameOf(path.resolve(resolveDir, asked)) : asked;
        return Object.hasOwn(LATE, name) ? { path: `./${lateFile(name)}.js`, external: true } : undefined;
      });
      build.onLoad({ filter: /\.ts$/, namespace: 'file' }, ({ path: file }) => {
        const name = nameOf(file);
        const text = readFileSync(file, 'utf8').replace(OWN_REQUIRE, '');
        if (name === FIRST) return { contents: text, loader: 'ts' };
        return { contents: (starts.has(name) ? preamble(name) : '') + importAtOnce(name, text), loader: 'ts' };
      });
    },
  };
}

/** Modules named `<namespace>:<name>`, which no file holds. */
function virtual(
  build: PluginBuild,
  namespace: string,
  contentsOf: (name: string) => string | Promise<string>,
  resolveDir: string,
): void {
  build.onResolve({ filter: new RegExp(`^${namespace}:`) }, ({ kind, path: asked }) => {
    if (namespace === 'node' && kind !== 'import-statement') return undefined;
    return { path: asked.slice(namespace.length + 1), namespace, sideEffects: namespace === 'every-run' };
  });
  build.onLoad({ filter: /.*/, namespace }, async ({ path: name }) => ({
    contents: await contentsOf(name),
    resolveDir,
  }));
}

/**
 * esbuild puts modules into one file that the same entry points reach. So every entry point, and every target of a
 * dynamic import, reaches all that a run executes, whether it needs it or not.
 */
function preamble(name: string): string {
  return name.startsWith('cli/')
    ? "import 'every-run:library'; import 'every-run:cli';"
    : "import 'every-run:library';";
}

function everyRun(part: keyof typeof EVERY_RUN): string {
  return EVERY_RUN[part].map((name) => `export * from './${name}';`).join('\n');
}

/** What every run loads anyway is not imported dynamically. */
function importAtOnce(name: string, text: string): string {
  const known = new Set([...EVERY_RUN.library, ...EVERY_RUN.cli]);
  const imports: string[] = [];
  const body = text.replace(DYNAMIC_IMPORT, (whole, specifier: string) => {
    if (!known.has(path.posix.join(path.posix.dirname(name), specifier))) return whole;
    imports.push(`import * as atOnce${imports.length} from '${specifier}';`);
    return `Promise.resolve(atOnce${imports.length - 1})`;
  });
  return imports.join('') + body;
}

/** The sources that a source imports dynamically. */
function importedLate(root: string, file: string): readonly string[] {
  const folder = path.posix.dirname(file.split(path.sep).join('/'));
  const text = readFileSync(path.join(root, file), 'utf8');
  return [...text.matchAll(DYNAMIC_IMPORT)].map(([, specifier = '']) => path.posix.join(folder, specifier));
}

/** An ES module that `require` sees as the CommonJS module that it wraps. */
function commonJs(name: string): string {
  return `import exported from '${name}'; const whole = exported; export { whole as 'module.exports' };`;
}

function lateFile(name: string): string {
  return `late-${name.replace(/\.[jt]s$/, '').replace(/\W+/g, '-')}`;
}

/**
 * A module of Node's own, of which only the members in use are touched. An import statement in the bundle would read
 * every member, and so load the streams of `node:fs` and the web cryptography of `node:crypto`, and open the standard
 * input for `node:process`: 10 ms for those of a run.
 */
async function builtin(name: string): Promise<string> {
  const module = (await import(`node:${name}`)) as object;
  const members = Object.keys(module).filter((member) => /^[\w$]+$/.test(member) && member !== 'default');
  return [
    `const builtin = process.getBuiltinModule('node:${name}');`,
    'const member = (name) => builtin[name];',
    ...members.map((member) => `const its_${member} = /* @__PURE__ */ member('${member}');`),
    `export { builtin as default, ${members.map((member) => `its_${member} as ${member}`).join(', ')} };`,
  ].join('\n');
}
