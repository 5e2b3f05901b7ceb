import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFakeApi } from '../support/fake-messages-api.mjs';
import { FAKE_CLI } from '../support/open-fake-cli.ts';
import { processLives } from '../support/process-lives.ts';
import { waitUntil } from '../support/wait-until.ts';
import { makePlace, type Place, script } from './wf-process.ts';

let api: Awaited<ReturnType<typeof startFakeApi>>;
let place: Place;
beforeEach(async () => {
  api = await startFakeApi({
    rules: { rules: [{ match: 'NUMBER', reply: [{ json: { n: 4 } }] }], default: [{ text: 'hi' }] },
  });
  place = makePlace({ ANTHROPIC_BASE_URL: api.url });
});
afterEach(async () => {
  place.remove();
  await api.close();
});

const NUMBER = "{ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }";
const command = (mode: string): string => `${process.execPath} '${FAKE_CLI}' --fake ${mode}`;

describe('wf run with an agent CLI', () => {
  it('has it do the work, and keeps its command for the resume (A-26, C-1, C-6)', async () => {
    place.put('a.js', script(`return [await agent('SAY'), (await agent('NUMBER', { schema: ${NUMBER} })).n]`));
    const first = await place.run(
      'run',
      'a.js',
      '--agent-command',
      command('none'),
      '--output-format',
      'json',
      '--max-agents',
      '1',
    );
    const output = JSON.parse(first.stdout) as { resume: string };
    expect(first.exit).toBe(4);
    expect(output.resume).toContain("--agent-command '");
    const resumed = await place.shell(`${output.resume} --max-agents 9 --output-format json`);
    expect(JSON.parse(resumed.stdout)).toMatchObject({
      status: 'completed',
      result: ['hi', 4],
      census: { agents_cached: 1 },
    });
    const [runId = ''] = place.runIds();
    const record = JSON.parse(readFileSync(join(place.state, 'runs', runId, 'run.json'), 'utf8'));
    expect(record).toMatchObject({ backend: 'process', simulated: false });
    const stored = await place.run('resume', '--last', '--output-format', 'json');
    expect(JSON.parse(stored.stdout)).toMatchObject({ result: ['hi', 4], census: { agents_cached: 2 } });
  });

  it.each([
    [['--backend', 'claude'], 66, /"claude".*not found.*--agent-command/],
    [['--backend', 'process', '--agent-command', './none'], 66, /"\.\/none".*no program/],
    [['--backend', 'process'], 64, /needs the command/],
    [['--agent-command', "'open"], 64, /quote/],
  ] as const)('%j is refused with %i before anything runs (A-26, C-10)', async (flags, exit, words) => {
    place.put('a.js', script("return agent('x')"));
    const ended = await place.run('run', 'a.js', ...flags);
    expect(ended.exit).toBe(exit);
    expect(ended.stderr).toMatch(words);
    expect(place.runIds()).toEqual([]);
  });

  it('that starts wf gets no agents that cost anything (A-26)', async () => {
    place.put('a.js', script("return agent('x')"));
    const inside = await place.shell(`WF_AGENT_DEPTH=1 wf run a.js --agent-command "${command('none')}"`);
    expect(inside.exit).toBe(4);
    expect(inside.stderr).toMatch(/started by an agent of another run.*\[LIMIT_DEPTH\]/s);
    const simulated = await place.shell('WF_AGENT_DEPTH=1 wf run a.js --backend simulated');
    expect(simulated.exit).toBe(0);
  });

  it('leaves no process behind when it is stopped (A-18, A-26)', async () => {
    const state = join(place.root, 'pids.json');
    place.put('a.js', script("return agent('x')"));
    const run = place.start(
      'run',
      'a.js',
      '--agent-command',
      `/usr/bin/env FAKE_CLI_STATE=${state} ${command('stubborn')}`,
    );
    await waitUntil(() => existsSync(state));
    run.child.kill('SIGINT');
    expect((await run.ended).exit).toBe(130);
    const pids = JSON.parse(readFileSync(state, 'utf8')) as number[];
    await waitUntil(() => !pids.some(processLives));
  });
});
