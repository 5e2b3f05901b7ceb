import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ROOT, WF } from '../support/mcp-server.ts';

const PLUGIN = join(ROOT, 'plugin');
const folders: string[] = [];
const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'wf plugin '));
  folders.push(made);
  return made;
}

const read = (name: string): unknown => JSON.parse(readFileSync(join(PLUGIN, name), 'utf8'));

/** Starts the server of a plugin directory exactly as its `.mcp.json` says, from another directory. */
async function connect(plugin: string, home: string, env: Readonly<Record<string, string>> = {}): Promise<Client> {
  const { mcpServers } = JSON.parse(readFileSync(join(plugin, '.mcp.json'), 'utf8')) as {
    mcpServers: { wf: { command: string; args: string[] } };
  };
  const { command, args } = mcpServers.wf;
  const transport = new StdioClientTransport({
    command,
    args: args.map((arg) => arg.replaceAll(`${'$'}{CLAUDE_PLUGIN_ROOT}`, plugin)),
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env },
    stderr: 'pipe',
  });
  const client = new Client({ name: 'wf-test', version: '1.0.0' });
  await client.connect(transport);
  closers.push(() => client.close());
  return client;
}

async function startedStep(client: Client): Promise<unknown> {
  const script = `export const meta = { name: 'p', description: 'd' }\nreturn agent('hello from a plugin')`;
  const { structuredContent } = await client.callTool({ name: 'wf_start', arguments: { script } });
  return (structuredContent as { pending: { instruction: string }[] }).pending[0]?.instruction;
}

/** A registry on this machine that has one package, the stand-in for the one that is published. */
async function registry(tarball: Buffer, version: string): Promise<string> {
  const server: Server = createServer((request, response) => {
    const { port } = server.address() as { port: number };
    if (request.url?.endsWith('.tgz') === true) return response.end(tarball);
    if (request.url !== '/wf-runtime') return response.writeHead(404).end('{}');
    const dist = { tarball: `http://127.0.0.1:${port}/wf-runtime-${version}.tgz` };
    const one = { name: 'wf-runtime', version, dist, bin: { wf: 'bin/wf.mjs' } };
    return response.end(
      JSON.stringify({ name: 'wf-runtime', 'dist-tags': { latest: version }, versions: { [version]: one } }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

describe('plugin/', () => {
  it('has manifests of the shape that Claude Code and CodeBuddy read (H-20)', () => {
    const manifest = z.strictObject({
      name: z.string().regex(/^[a-z0-9-]+$/),
      version: z.literal((JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version),
      description: z.string(),
      author: z.strictObject({ name: z.string() }),
      license: z.string(),
      keywords: z.array(z.string()),
    });
    manifest.parse(read('.claude-plugin/plugin.json'));
    manifest.parse(read('.codebuddy-plugin/plugin.json'));
    const server = z.strictObject({ command: z.literal('node'), args: z.array(z.string()) });
    const { mcpServers } = z.strictObject({ mcpServers: z.record(z.string(), server) }).parse(read('.mcp.json'));
    expect(mcpServers['wf']?.args).toEqual([`${'$'}{CLAUDE_PLUGIN_ROOT}/server/start.mjs`]);
    z.strictObject({ hooks: z.record(z.string(), z.array(z.unknown())) }).parse(read('hooks/hooks.json'));
    expect(readdirSync(PLUGIN).sort()).toEqual(
      ['.claude-plugin', '.codebuddy-plugin', '.mcp.json', 'hooks', 'server', 'skills'].sort(),
    );
  });

  it('has a skill that teaches the language of scripts (H-20, H-4)', () => {
    const skill = readFileSync(join(PLUGIN, 'skills/workflows/SKILL.md'), 'utf8');
    expect(skill).toMatch(/^---\nname: workflows\ndescription: .{40,1000}\n---\n/);
    for (const word of ['agent(', 'parallel(', 'pipeline(', 'wf_start', 'workflow_result'])
      expect(skill).toContain(word);
  });

  it('starts the server of the package it is part of, from another directory, with a space in its path (H-20)', async () => {
    const root = folder();
    for (const name of ['bin', 'dist', 'plugin', 'package.json'])
      cpSync(join(ROOT, name), join(root, name), { recursive: true });
    spawnSync('ln', ['-s', join(ROOT, 'node_modules'), join(root, 'node_modules')]);
    const home = folder();
    const client = await connect(join(root, 'plugin'), home);
    expect(await startedStep(client)).toBe('hello from a plugin');
  });

  it('installs its engine once where it stands alone, and starts without npm from then on (H-20)', async () => {
    const [root, home] = [folder(), folder()];
    cpSync(PLUGIN, join(root, 'wf'), { recursive: true });
    const { version } = read('.claude-plugin/plugin.json') as { version: string };
    const standIn = join(root, 'package');
    mkdirSync(join(standIn, 'bin'), { recursive: true });
    writeFileSync(
      join(standIn, 'package.json'),
      JSON.stringify({ name: 'wf-runtime', version, bin: { wf: 'bin/wf.mjs' } }),
    );
    writeFileSync(join(standIn, 'bin/wf.mjs'), `await import(${JSON.stringify(WF)});\n`);
    spawnSync('tar', ['-czf', 'p.tgz', 'package'], { cwd: root });
    const url = await registry(readFileSync(join(root, 'p.tgz')), version);
    const data = join(root, 'data');
    const env = { CLAUDE_PLUGIN_DATA: data, npm_config_cache: join(root, 'cache') };
    const first = await connect(join(root, 'wf'), home, { ...env, npm_config_registry: url });
    expect(await startedStep(first)).toBe('hello from a plugin');
    expect(readdirSync(data)).toEqual([`wf-runtime-${version}`]);
    await first.close();
    const second = await connect(join(root, 'wf'), home, { ...env, npm_config_registry: 'http://127.0.0.1:9/' });
    expect((await second.listTools()).tools.length).toBeGreaterThan(4);
  });

  it('says what to do when its engine cannot be installed (H-20)', () => {
    const [root, home] = [folder(), folder()];
    cpSync(PLUGIN, join(root, 'wf'), { recursive: true });
    const { status, stdout, stderr } = spawnSync('node', [join(root, 'wf/server/start.mjs')], {
      encoding: 'utf8',
      cwd: home,
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        npm_config_registry: 'http://127.0.0.1:9/',
        npm_config_fetch_retries: '0',
      },
    });
    expect(status).toBe(69);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/could not be installed .*\n.*WF_RUNTIME name its folder.*\n.*npx -y wf-runtime@/);
  });

  it('takes the engine that WF_RUNTIME names, and says so when none is there (H-20)', async () => {
    const [root, home] = [folder(), folder()];
    cpSync(PLUGIN, join(root, 'wf'), { recursive: true });
    const client = await connect(join(root, 'wf'), home, { WF_RUNTIME: ROOT });
    expect((await client.listTools()).tools.length).toBeGreaterThan(4);
    const env = { PATH: process.env['PATH'], HOME: home, WF_RUNTIME: join(root, 'nowhere') };
    const { status, stderr } = spawnSync('node', [join(root, 'wf/server/start.mjs')], { encoding: 'utf8', env });
    expect([status, stderr]).toEqual([
      69,
      expect.stringMatching(/WF_RUNTIME is .*nowhere, and no wf-runtime is there/),
    ]);
  });
});
