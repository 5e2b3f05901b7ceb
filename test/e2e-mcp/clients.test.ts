import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it } from 'vitest';
import { type HostState, type McpPlace, makeMcpPlace, ROOT, script, WF } from '../support/mcp-server.ts';

const places: McpPlace[] = [];
afterEach(async () => {
  await Promise.all(places.splice(0).map((place) => place.remove()));
});

function place(): McpPlace {
  const made = makeMcpPlace();
  places.push(made);
  return made;
}

/** Takes out what differs from one recording to the next, and shortens what is elsewhere in full. */
function normalised(text: string, { root }: McpPlace): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return text
    .replaceAll(root, '/PLACE')
    .replaceAll(ROOT, '/WF/')
    .replaceAll(version, 'VERSION')
    .replace(/wf_[0-9a-f]{8}-[0-9a-f]{3}/g, 'wf_RUN')
    .replace(/(\\?"startedAt\\?": ?)\d+/g, '$1"TIME"')
    .replace(/done in [^)]*\)/g, 'done in TIME)')
    .replace(/("progress": ?)[\d.]+/g, '$1"SECONDS"')
    .replace(/<duration_ms>\d+/g, '<duration_ms>TIME');
}

/** A description or a schema is what `tools/list` says at this moment; a transcript shows that it is there. */
function abbreviated(value: unknown): unknown {
  if (typeof value === 'string') return value.length > 300 ? `${value.slice(0, 120)}…` : value;
  if (Array.isArray(value)) return value.map(abbreviated);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) =>
      key === 'inputSchema' || key === 'outputSchema' ? [key, '…'] : [key, abbreviated(member)],
    ),
  );
}

const SOURCE = script(`phase('Ask'); return { said: await agent('Say hello.', { label: 'greeter' }), args }`);

describe('real clients', () => {
  it('are recorded: the client of @modelcontextprotocol/sdk lists the tools and calls each (H-10, H-12, H-13)', async () => {
    const here = place();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [WF, 'mcp', '--state-dir', here.state, '--backend', 'simulated'],
      env: { PATH: process.env['PATH'] ?? '', HOME: here.root },
      cwd: here.work,
      stderr: 'pipe',
    });
    const lines: string[] = [];
    const record = (arrow: string, message: JSONRPCMessage): void => {
      if ('method' in message && message.method === 'notifications/progress') return;
      lines.push(`${arrow} ${JSON.stringify(abbreviated(message))}`);
    };
    const client = new Client({ name: 'sdk-client', version: '1.0.0' });
    const send = transport.send.bind(transport);
    transport.send = (message) => {
      record('→', message);
      return send(message);
    };
    await client.connect(transport);
    const receive = transport.onmessage;
    transport.onmessage = (message: JSONRPCMessage) => {
      record('←', message);
      receive?.(message);
    };
    const call = async (name: string, args: Record<string, unknown>): Promise<HostState> =>
      (await client.callTool({ name, arguments: args })).structuredContent as unknown as HostState;
    await client.listTools();
    const { runId } = await call('Workflow', { script: SOURCE, args: { to: 'you' } });
    await call('workflow_result', { runId });
    await call('workflow_status', { runId });
    await call('workflow_stop', { runId });
    const begun = await call('wf_start', { script: SOURCE });
    const step = { runId: begun.runId, stepId: begun.pending[0]?.stepId };
    await call('wf_continue', { ...step, result: { status: 'success' } });
    await call('wf_status', { runId: begun.runId });
    await call('wf_continue', { ...step, result: { status: 'success', output: 'Hello.' } });
    await call('wf_continue', { ...step, result: { status: 'success', output: 'Something else.' } });
    await call('workflow_list', { limit: 1 });
    const other = await call('wf_start', { script: SOURCE });
    await call('wf_cancel', { runId: other.runId });
    await client.close();
    const text = `${normalised(lines.join('\n'), here)}\n`;
    await expect(text).toMatchFileSnapshot(join(ROOT, 'docs/hosts/transcripts/mcp-sdk-client.txt'));
  });

  it('are recorded: the command line of the MCP Inspector lists the tools and calls some (H-10, H-12)', async () => {
    const here = place();
    const inspector = installedInspector();
    const shown: string[] = [];
    const inspect = (title: string, ...args: string[]): Record<string, unknown> => {
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        [inspector, '--cli', process.execPath, WF, 'mcp', '--state-dir', here.state, '--backend', 'host', ...args],
        { cwd: here.work, encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: here.root } },
      );
      expect({ status, stderr }).toMatchObject({ status: 0 });
      const value = JSON.parse(stdout) as Record<string, unknown>;
      shown.push(`$ mcp-inspector --cli wf mcp ${title}\n${JSON.stringify(abbreviated(value), null, 2)}`);
      return value;
    };
    const { tools } = inspect('--method tools/list', '--method', 'tools/list') as { tools: unknown[] };
    expect(tools).toHaveLength(4);
    const call = (name: string, args: Readonly<Record<string, string>>): HostState => {
      const pairs = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]);
      const answer = inspect(
        `--method tools/call --tool-name ${name}`,
        '--method',
        'tools/call',
        '--tool-name',
        name,
        ...pairs,
      );
      return answer['structuredContent'] as HostState;
    };
    // Each call has a server of its own: the step waits from one to the next.
    const begun = call('wf_start', { script: SOURCE });
    const stepId = begun.pending[0]?.stepId ?? '';
    const result = JSON.stringify({ status: 'success', output: 'Hello.' });
    expect(call('wf_continue', { runId: begun.runId, stepId, result })).toMatchObject({ status: 'completed' });
    const text = `${normalised(shown.join('\n\n'), here)}\n`;
    await expect(text).toMatchFileSnapshot(join(ROOT, 'docs/hosts/transcripts/mcp-inspector.txt'));
  }, 180_000);
});

const INSPECTOR = '2.12.0';

/** Installed by the first run of this test, in a folder of its own below `temp/`, and kept for later ones. */
function installedInspector(): string {
  const folder = join(ROOT, 'temp', `mcp-inspector-${INSPECTOR}`);
  const program = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  if (existsSync(program)) return program;
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  writeFileSync(join(fresh, 'package.json'), '{ "private": true }\n');
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  const { status, stderr } = spawnSync('npm', ['install', ...flags, `@modelcontextprotocol/inspector@${INSPECTOR}`], {
    cwd: fresh,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the MCP Inspector could not be installed: ${stderr}`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  return program;
}
