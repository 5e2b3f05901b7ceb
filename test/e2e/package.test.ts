import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const repository = path.join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as { version: string };
const project = mkdtempSync(path.join(os.tmpdir(), 'wf-e2e-'));
const home = path.join(project, 'home');

function run(program: string, ...args: string[]) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: project,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: home, npm_config_cache: process.env['npm_config_cache'] ?? npmCache() },
  });
  return { status, stdout, stderr: `${stderr}${error?.message ?? ''}` };
}

/** The cache of the user who runs the tests, since the project's home is empty. */
function npmCache(): string {
  return path.join(os.homedir(), '.npm');
}

/** Packs what is built and installs it the way a user does, scripts of dependencies included. */
beforeAll(() => {
  if (!existsSync(path.join(repository, 'dist/index.d.ts'))) throw new Error('run `npm run build` first');
  const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', project], {
    cwd: repository,
    encoding: 'utf8',
  });
  const tarball = packed.stdout.trim();
  writeFileSync(path.join(project, 'package.json'), '{ "name": "user", "private": true, "type": "module" }\n');
  const installed = run('npm', 'install', `./${tarball}`, '--prefer-offline', '--no-audit', '--no-fund');
  if (installed.status !== 0) throw new Error(installed.stderr);
  cpSync(path.join(import.meta.dirname, 'fixtures'), project, { recursive: true });
}, 120_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('the packed and installed package', () => {
  it('holds what runs and its pages, and no sources', () => {
    const installed = path.join(project, 'node_modules/wf-runtime');
    expect(readdirSync(installed).sort()).toEqual(
      [
        'CHANGELOG.md',
        'CONTRIBUTING.md',
        'LICENSE',
        'README.md',
        'SECURITY.md',
        'bin',
        'dist',
        'docs',
        'dsl',
        'examples',
        'package.json',
        'plugin',
      ].sort(),
    );
    const built = readdirSync(path.join(installed, 'dist'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      path.extname(name),
    );
    expect(built).toEqual(expect.arrayContaining(['index.js', 'index.d.ts', 'wf.js', 'sandbox-child.cjs']));
    const paths = built.filter((name) => readFileSync(path.join(installed, 'dist', name), 'utf8').includes(repository));
    expect(paths).toEqual([]);
  });

  it('holds every page that its pages link to, and its installation runs no script of its own', () => {
    const installed = path.join(project, 'node_modules/wf-runtime');
    const pages = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
    const links = pages.flatMap((page) =>
      [...readFileSync(path.join(installed, page), 'utf8').matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(
        ([, to = '']) => ({
          page,
          to: path.join(path.dirname(page), to),
        }),
      ),
    );
    expect(links).toContainEqual({ page: 'README.md', to: 'docs/agents.md' });
    expect(links.filter(({ to }) => to.startsWith('..') || !existsSync(path.join(installed, to)))).toEqual([]);
    const { scripts } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')) as { scripts: object };
    // npm asks the user about these; `prepare` counts where the package comes from a file.
    const asked = ['preinstall', 'install', 'postinstall', 'prepare'];
    expect(Object.keys(scripts).filter((name) => asked.includes(name))).toEqual([]);
  });

  it('says its version and its commands (C-10)', () => {
    expect(run('npx', 'wf', '--version')).toMatchObject({ status: 0, stdout: expect.stringContaining(version) });
    expect(run('npx', 'wf', '--help').stdout).toMatch(/run[\s\S]*resume[\s\S]*check/);
  });

  it('runs the script of the front page without a key, and says that it was simulated (C-11)', () => {
    const arg = 'question=Should we run our own mail server?';
    const { status, stdout, stderr } = run('npx', 'wf', 'run', 'angles.js', '--arg', arg, '--output-format', 'json');
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    const output = JSON.parse(stdout) as { result: { sure: unknown } };
    expect(output).toMatchObject({ status: 'completed', simulated: true, census: { agents_done: 4 } });
    expect(typeof output.result.sure).toBe('boolean');
  });

  it('has workflows built in, which run by their names (H-22)', () => {
    expect(run('npx', 'wf', 'list', '--workflows').stdout).toMatch(/^deep-research .*\n?^review .*/m);
    const { status, stdout } = run('npx', 'wf', 'run', 'review', '--arg', 'depth=quick', '--output-format', 'json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', simulated: true, result: { depth: 'quick' } });
  });

  it('runs as a library, as the front page shows', () => {
    const page = readFileSync(path.join(project, 'node_modules/wf-runtime/README.md'), 'utf8');
    writeFileSync(path.join(project, 'front-page.ts'), /^```ts\n([\s\S]*?)^```/m.exec(page)?.[1] ?? '');
    const { status, stdout, stderr } = run('node', 'front-page.ts');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^completed 4 \{/);
  });

  it('gives types that hold under the strictest settings', () => {
    const options = {
      ...{ module: 'NodeNext', target: 'ES2024', strict: true, exactOptionalPropertyTypes: true, noEmit: true },
      ...{ skipLibCheck: false, types: ['node'], typeRoots: [path.join(repository, 'node_modules/@types')] },
    };
    writeFileSync(
      path.join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['library.ts'] }),
    );
    expect(run('node', path.join(repository, 'node_modules/typescript/bin/tsc'), '-p', '.')).toMatchObject({
      status: 0,
      stdout: '',
    });
  }, 120_000);

  it('says in one sentence what an older Node lacks, and ends with 69', () => {
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })`;
    writeFileSync(path.join(project, 'old-node.mjs'), old);
    const { status, stdout, stderr } = run(
      'node',
      ...['--import', './old-node.mjs', 'node_modules/wf-runtime/bin/wf.mjs', '--version'],
    );
    expect({ status, stdout }).toEqual({ status: 69, stdout: '' });
    expect(stderr).toMatch(/^wf needs Node\.js 24 or newer, and this is 20\.19\.0\. .*\n$/);
  });
});
