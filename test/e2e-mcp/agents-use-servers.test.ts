import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makePlace, type Place, script } from '../e2e-cli/wf-process.ts';
import { isAlive, ROOT } from '../support/mcp-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const SERVER = join(ROOT, 'test/support/tool-server.mjs');
const places: Place[] = [];
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const place of places.splice(0)) place.remove();
});

interface Planned {
  readonly place: Place;
  readonly log: string;
}

/** A project with an `.mcp.json` and an agent that makes planned calls. */
function project(
  servers: (log: string) => Readonly<Record<string, unknown>>,
  calls: readonly { readonly name: string; readonly input?: unknown }[],
  env: Readonly<Record<string, string>> = {},
): Planned {
  const place = makePlace(env);
  places.push(place);
  const log = join(place.root, 'servers.log');
  place.put('.mcp.json', { mcpServers: servers(log) });
  place.put('flow.js', script(`return agent('work')`));
  const turns = calls.map(({ name, input = {} }) => ({ tool: { name, input } }));
  place.put('responses.json', { default: [...turns, { text: 'done' }] });
  return { place, log };
}

const run = ({ place }: Planned, ...options: string[]) =>
  place.run('run', 'flow.js', '--responses', 'responses.json', '--output-format', 'json', ...options);

/** Rows of the transcript of the only agent. */
function transcript({ place }: Planned): readonly { readonly type: string; readonly [member: string]: unknown }[] {
  const [runId = ''] = place.runIds();
  const folder = join(place.state, 'runs', runId, 'agents');
  const name = readdirSync(folder).find((file) => file.endsWith('.jsonl')) ?? '';
  return readFileSync(join(folder, name), 'utf8')
    .trim()
    .split('\n')
    .map((row) => JSON.parse(row));
}

const results = (planned: Planned) =>
  transcript(planned)
    .filter(({ type }) => type === 'tool_result')
    .map(({ content }) => String(content));

const pids = ({ log }: Planned): number[] => {
  try {
    return readFileSync(log, 'utf8').trim().split('\n').map(Number);
  } catch {
    return [];
  }
};

const stdio = (log: string, ...flags: string[]) => ({
  command: process.execPath,
  args: [SERVER, ...flags],
  env: { SERVER_LOG: log, TOKEN: `${'$'}{TOKEN:-a default}` },
});

describe('tools of the MCP servers that a project names', () => {
  it('are called as mcp__<server>__<tool>, bounded, their failures read by the model; one server a run (A-25)', async () => {
    const calls = [
      { name: 'mcp__docs__echo', input: { text: 'hi' } },
      { name: 'mcp__docs__secret' },
      { name: 'mcp__docs__flood' },
      { name: 'mcp__docs__fail' },
      { name: 'mcp__docs__echo', input: {} },
    ];
    const planned = project((log) => ({ docs: stdio(log) }), calls, { HIDDEN: 'not for servers' });
    const { stdout, exit } = await run(planned, '--allow-tools', 'mcp__docs__*');
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ result: 'done', usage: { tool_uses: 5 } });
    const [echo, secret, flood, fail, invalid] = results(planned);
    expect(echo).toBe('echo: hi');
    expect(secret).toBe('["a default",null]');
    expect(flood).toMatch(/x\n\[cut: 140000 more characters/);
    expect(fail).toBe('it did not work');
    expect(invalid).toMatch(/text/);
    expect(pids(planned)).toHaveLength(1);
    await waitUntil(() => !pids(planned).some(isAlive));
  });

  it('come from a server on the network as well, with its headers (A-25)', async () => {
    const server = spawn(process.execPath, [SERVER, '--http'], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(server);
    const url = await new Promise<string>((resolve) => {
      server.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
    });
    const headers = { Authorization: `Bearer of the ${'$'}{WHO}` };
    const calls = [{ name: 'mcp__net__echo', input: { text: 'far' } }];
    const planned = project(() => ({ net: { type: 'http', url, headers } }), calls, { WHO: 'test' });
    expect((await run(planned, '--permission-mode', 'bypassPermissions')).exit).toBe(0);
    expect(results(planned)).toEqual(['echo: far']);
  });

  it('are not started unless one of them could be allowed (A-25, A-29)', async () => {
    const calls = [{ name: 'mcp__docs__echo', input: { text: 'hi' } }];
    for (const options of [
      [],
      ['--allow-tools', 'mcp__other__*'],
      ['--permission-mode', 'bypassPermissions', '--deny-tools', 'mcp__docs__*'],
      ['--permission-mode', 'plan', '--allow-tools', 'mcp__docs__echo'],
    ]) {
      const planned = project((log) => ({ docs: stdio(log) }), calls);
      expect((await run(planned, ...options)).exit).toBe(0);
      expect(pids(planned), options.join(' ')).toEqual([]);
      expect(results(planned)[0]).toMatch(/There is no tool named mcp__docs__echo/);
    }
  });

  it('are missing, with one warning each, where a server cannot be used; the run goes on (A-25)', async () => {
    const planned = project(
      (log) => ({
        broken: stdio(log, '--broken'),
        gone: { command: 'no-such-program-of-wf' },
        unset: { command: 'x', args: [`${'$'}{NOT_SET_AT_ALL}`] },
        old: { type: 'sse', url: 'http://127.0.0.1:9/sse' },
        docs: stdio(log),
      }),
      [{ name: 'mcp__docs__crash' }, { name: 'mcp__docs__echo', input: { text: 'x' } }],
    );
    const { stderr, exit } = await run(planned, '--permission-mode', 'bypassPermissions');
    expect(exit).toBe(0);
    for (const warning of [
      /MCP server broken .* the last it said is: no licence was found/,
      /MCP server gone .* ENOENT/,
      /"unset" .* NOT_SET_AT_ALL is not set/,
      /"old" .* type is "sse"/,
    ]) {
      expect(stderr.match(new RegExp(warning, 'g')), String(warning)).toHaveLength(1);
      expect(transcript(planned).filter(({ text }) => warning.test(String(text)))).toHaveLength(1);
    }
    expect(results(planned)).toEqual([expect.stringMatching(/closed/i), expect.stringMatching(/not connected|ended/i)]);
  });

  it.each([
    ['with the run', 'SIGINT', 130],
    ['soon after a run that was killed', 'SIGKILL', 'SIGKILL'],
  ] as const)('die %s, with their groups, also when they do not want to (A-18, A-25)', async (_, signal, exit) => {
    const planned = project(
      (log) => ({ docs: stdio(log, '--stubborn', '--with-child') }),
      [{ name: 'mcp__docs__wait' }],
    );
    const argv = ['flow.js', '--responses', 'responses.json', '--allow-tools', 'mcp__docs__wait'];
    const { child, ended } = planned.place.start('run', ...argv);
    await waitUntil(() => pids(planned).length === 2);
    await waitUntil(() => planned.place.journal().some(({ type }) => type === 'started'));
    child.kill(signal);
    expect((await ended).exit).toBe(exit);
    const deadline = Date.now() + (signal === 'SIGKILL' ? 2_000 : 0);
    await waitUntil(() => !pids(planned).some(isAlive) || Date.now() >= deadline);
    expect(pids(planned).filter(isAlive)).toEqual([]);
  });
});
