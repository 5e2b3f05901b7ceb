import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../protocol/error-codes.ts';
import { makePlace, type Place, script } from '../e2e-cli/wf-process.ts';
import { type McpPlace, makeMcpPlace, ROOT } from '../support/mcp-server.ts';

const places: (Place | McpPlace)[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await place.remove();
});

const page = (name: string): string => readFileSync(join(ROOT, 'docs/hosts', name), 'utf8');
const commands = (text: string): string[] =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, body = '']) => body.trim().split('\n'));

describe('docs/hosts', () => {
  it('names in mcp.md the tools that the server has with what each takes, and no others (H-10, H-12, H-13)', async () => {
    const here = makeMcpPlace();
    places.push(here);
    const { client } = await here.connect();
    const { tools } = await client.listTools();
    const taken = Object.fromEntries(
      tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {}).toSorted()]),
    );
    const [before = '', after = ''] = page('mcp.md').split('## What the tools take');
    const named = [...before.matchAll(/^\| `(wf_\w+|workflow_\w+|Workflow)` \|/gm)].map(([, name]) => name);
    expect(named.toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
    const documented: Record<string, string[]> = {};
    let tool = '';
    for (const [, name, parameters = ''] of after.matchAll(/^\| (?:`(\w+)` )?\| (`.*?) \|/gm)) {
      tool = name ?? tool;
      documented[tool] = [...(documented[tool] ?? []), ...(parameters.match(/\w+/g) ?? [])].toSorted();
    }
    expect(documented).toEqual(taken);
    const { properties } = tools.find(({ name }) => name === 'wf_continue')?.inputSchema ?? {};
    const statuses = [...before.matchAll(/^\| `([a-z]+)` \| it /gm)].map(([, status]) => status);
    expect(properties).toMatchObject({ result: { properties: { status: { enum: statuses } } } });
  });

  it('gives in ci.md commands that work, and every exit code that an error has (C-6, C-7)', async () => {
    const place = makePlace();
    places.push(place);
    place.put('review.js', script(`return (await agent('look at ' + args.path)).length > 0`));
    place.put('input.json', { path: 'src' });
    const lines = commands(page('ci.md'));
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(await place.shell(`${line} && cat run.json`)).toMatchObject({ exit: 0 });
    const codes = new Set(
      [...page('ci.md').matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, list = '']) => list.split(', ')),
    );
    const thrown = Object.values(ERROR_CODES).map(({ exit }) => String(exit));
    expect(thrown.filter((code) => !codes.has(code) && code !== '70')).toEqual([]);
  });
});

describe('a run that the connected agent does', () => {
  it('goes on under another backend only when somebody says so (H-16, C-11)', async () => {
    const here = makeMcpPlace();
    const place = makePlace();
    places.push(here, place);
    const server = await here.connect();
    const { runId } = await server.host('wf_start', { script: script(`return (await agent('x')).length > 0`) });
    await server.kill();
    const refused = await place.run('resume', runId, '--state-dir', here.state);
    expect(refused).toMatchObject({ exit: 64, stderr: expect.stringContaining('wf_status') });
    expect(await place.run('resume', runId, '--state-dir', here.state, '--backend', 'simulated')).toMatchObject({
      exit: 0,
      stdout: 'true\n',
    });
  });
});
