/**
 * Builds what the package ships, into `dist/`:
 *
 * - `index.js` (the library) and `wf.js` (the command line), which share chunks so that heavy parts load only when used;
 * - `sandbox-child.js`, one file, since the sandbox process may read nothing but itself and `isolated-vm`;
 * - `index.d.ts`, rolled up by api-extractor (`--types` only, or a full build).
 *
 * Small libraries are bundled: a start from one file takes half the time of one from a hundred. See docs/adr/0003-bundling.md.
 *
 *   node tools/build.mjs [--js | --types] [--update-api]
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const flags = new Set(process.argv.slice(2));

/** Native, or large and wanted by few runs: loaded from node_modules when first used. */
const EXTERNAL = ['isolated-vm', '@anthropic-ai/sdk', '@anthropic-ai/sdk/*', 'amaro'];

/**
 * Sources load heavy CommonJS libraries late, with a `require` of their own. Without that line esbuild sees what is required,
 * bundles it, and still runs it at its first use: ajv and re2js then take 13 ms of CPU in place of 35.
 */
const bundleLateRequires = {
  name: 'bundle-late-requires',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\](runtime|agents|cache|emitters|cli)[/\\].*\.ts$/ }, ({ path: file }) => {
      const contents = readFileSync(file, 'utf8');
      const late = /^const require = createRequire\(import\.meta\.url\);$/m;
      return late.test(contents) ? { contents: contents.replace(late, ''), loader: 'ts' } : undefined;
    });
  },
};

const shared = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  external: EXTERNAL,
  plugins: [bundleLateRequires],
  metafile: true,
  legalComments: 'eof',
  logLevel: 'warning',
  // CommonJS libraries inside the bundle ask for Node's own modules with `require`.
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);",
  },
};

/** Builds aside and swaps the folders at the end, so that a `wf` that is running meets whole builds only. */
async function buildJavaScript() {
  const faces = { index: 'index.ts', wf: 'cli/main.ts' };
  const child = { 'sandbox-child': 'runtime/sandbox/child/main.ts' };
  const fresh = path.join(root, 'temp', `dist-${process.pid}`);
  const old = `${fresh}-old`;
  mkdirSync(fresh, { recursive: true });
  const bundles = [
    await build({ ...shared, entryPoints: faces, outdir: fresh, splitting: true, chunkNames: 'chunk-[hash]' }),
    await build({ ...shared, entryPoints: child, outdir: fresh }),
  ];
  writeFileSync(
    path.join(fresh, 'LICENSES.txt'),
    licensesOf(bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs))),
  );
  const dist = path.join(root, 'dist');
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
}

/** The licences of the libraries whose code is in the bundles. */
function licensesOf(inputs) {
  const names = inputs.map((input) => input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]);
  const texts = [...new Set(names)]
    .filter((name) => name !== undefined)
    .sort()
    .map((name) => {
      const folder = path.join(root, 'node_modules', name);
      const { version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      if (file === undefined) throw new Error(`${name} is bundled and has no licence file`);
      return `${name} ${version} (${license})\n\n${readFileSync(path.join(folder, file), 'utf8').trim()}\n`;
    });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** npx and package scripts look into node_modules/.bin first; there `wf` is this working copy. */
function linkCommand() {
  const folder = path.join(root, 'node_modules', '.bin');
  const link = path.join(folder, 'wf');
  const target = path.join('..', '..', 'bin', 'wf.mjs');
  if (process.platform === 'win32' || !existsSync(folder)) return;
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(link) === target) return;
  rmSync(link, { force: true });
  symlinkSync(target, link);
}

function run(program, args) {
  const script = path.join(root, 'node_modules', ...program);
  const { status } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function buildTypes() {
  rmSync(path.join(root, 'temp', 'types'), { recursive: true, force: true });
  run(['typescript', 'bin', 'tsc'], ['-p', 'tsconfig.build.json']);
  run(
    ['@microsoft', 'api-extractor', 'bin', 'api-extractor'],
    ['run', ...(flags.has('--update-api') ? ['--local'] : [])],
  );
}

if (!flags.has('--types')) {
  await buildJavaScript();
  linkCommand();
}
if (!flags.has('--js')) buildTypes();
