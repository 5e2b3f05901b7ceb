/**
 * Starts `wf mcp` from a plugin directory, in this very process, so that nothing is left when it is ended.
 *
 * The directory holds no engine: it has a native part and libraries. So, in this order:
 * 1. the package `wf-runtime` that the environment variable WF_RUNTIME names: its folder, or its `bin/wf.mjs`;
 * 2. the package that this directory is part of, where that is installed or checked out;
 * 3. the package `wf-runtime` of this plugin's version, which npm puts into the plugin's data directory at the first start.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const plugin = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(path.join(plugin, '.claude-plugin/plugin.json'), 'utf8'));

function programNamed() {
  const named = process.env.WF_RUNTIME?.trim();
  if (!named) return undefined;
  const program = ['', 'bin/wf.mjs', 'node_modules/wf-runtime/bin/wf.mjs']
    .map((rest) => path.resolve(named, rest))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  if (program !== undefined) return program;
  console.error(`wf: WF_RUNTIME is ${named}, and no wf-runtime is there.`);
  console.error('wf: let it name the folder of an installed wf-runtime or its bin/wf.mjs, or unset it.');
  process.exit(69);
}

function programAround() {
  const folder = path.dirname(plugin);
  const manifest = path.join(folder, 'package.json');
  if (!existsSync(manifest) || JSON.parse(readFileSync(manifest, 'utf8')).name !== 'wf-runtime') return undefined;
  const program = path.join(folder, 'bin/wf.mjs');
  return existsSync(path.join(folder, 'dist/wf.js')) ? program : undefined;
}

/** Installs aside and moves the whole, so that two starts at once do not meet half of it. */
function programFromNpm() {
  const data = process.env.CLAUDE_PLUGIN_DATA || path.join(homedir(), '.wf/plugin');
  const folder = path.join(data, `wf-runtime-${version}`);
  const program = path.join(folder, 'node_modules/wf-runtime/bin/wf.mjs');
  if (existsSync(program)) return program;
  console.error(`wf: installing wf-runtime ${version} into ${folder}, once`);
  const fresh = `${folder}.${process.pid}.tmp`;
  mkdirSync(fresh, { recursive: true });
  writeFileSync(path.join(fresh, 'package.json'), '{ "private": true }\n');
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  // What npm prints is no message of the protocol, so it goes where people look.
  const { status, error } = spawnSync('npm', ['install', ...flags, `wf-runtime@${version}`], {
    cwd: fresh,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    const why = error === undefined ? `npm ended with ${status}` : error.message;
    console.error(`wf: wf-runtime ${version} could not be installed (${why}).`);
    console.error('wf: where it is installed already, let the environment variable WF_RUNTIME name its folder.');
    console.error(
      `wf: else install it by hand, and put the server into .mcp.json as: npx -y wf-runtime@${version} mcp`,
    );
    process.exit(69);
  }
  try {
    renameSync(fresh, folder);
  } catch {
    rmSync(fresh, { recursive: true, force: true }); // another start was faster
  }
  return program;
}

const program = programNamed() ?? programAround() ?? programFromNpm();
process.argv.splice(1, process.argv.length, program, 'mcp', ...process.argv.slice(2));
await import(pathToFileURL(program).href);
