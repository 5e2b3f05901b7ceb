/** Packs the built package as npm would and asks publint and attw what users of it would run into. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(path.join(os.tmpdir(), 'wf-pack-'));

function run(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8' });
  if (status === 0) return;
  console.error(`${path.basename(program)}:\n${stdout}${stderr}`);
  process.exitCode = 1;
}

try {
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder]);
  const tarball = path.join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? 'missing.tgz');
  run(path.join(root, 'node_modules/.bin/publint'), ['run', tarball, '--strict']);
  run(path.join(root, 'node_modules/.bin/attw'), [tarball, '--profile', 'esm-only']);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
