/**
 * Builds what the package ships, into `dist/`:
 *
 * - `index.js` (the library) and `wf.js` (the command line), which share files; `bundle-shape.ts` says how they are cut;
 * - `sandbox-child.cjs`, one file, since the sandbox process may read nothing but itself and `isolated-vm`;
 * - `built-in/`, the workflows that come with the package, as they are;
 * - `index.d.ts`, rolled up by api-extractor (`--types` only, or a full build).
 *
 * Small libraries are bundled: a start from one file takes half the time of one from a hundred. See docs/adr/0003-bundling.md.
 *
 *   node tools/build.mjs [--js | --types] [--update-api]
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
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
import { bundleShape, LATE_ENTRIES } from './bundle-shape.ts';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const flags = new Set(process.argv.slice(2));

/** Native, or large and wanted by few runs: loaded from node_modules when first used. */
const EXTERNAL = ['isolated-vm', '@anthropic-ai/sdk', '@anthropic-ai/sdk/*', '@anthropic-ai/sandbox-runtime', 'amaro'];

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  external: EXTERNAL,
  metafile: true,
  legalComments: 'eof',
  logLevel: 'warning',
};

/** Builds aside and swaps the folders at the end, so that a `wf` that is running meets whole builds only. */
async function buildJavaScript() {
  const faces = { index: 'index.ts', wf: 'cli/main.ts' };
  const child = { 'sandbox-child': 'runtime/sandbox/child/main.ts' };
  const fresh = path.join(root, 'temp', `dist-${process.pid}`);
  const old = `${fresh}-old`;
  mkdirSync(fresh, { recursive: true });
  const bundles = [
    await build({
      ...shared,
      entryPoints: { ...faces, ...LATE_ENTRIES },
      outdir: fresh,
      format: 'esm',
      splitting: true,
      chunkNames: 'chunk-[hash]',
      plugins: [bundleShape(root, Object.values(faces))],
      // CommonJS libraries inside the bundle ask for Node's own modules with `require`.
      banner: {
        js: "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
      },
    }),
    // CommonJS: the loader of modules takes a sixth of this process's start.
    await build({ ...shared, entryPoints: child, outdir: fresh, format: 'cjs', outExtension: { '.js': '.cjs' } }),
  ];
  writeFileSync(
    path.join(fresh, 'LICENSES.txt'),
    licensesOf(bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs))),
  );
  cpSync(path.join(root, 'hosts/saved-workflows/built-in'), path.join(fresh, 'built-in'), { recursive: true });
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
