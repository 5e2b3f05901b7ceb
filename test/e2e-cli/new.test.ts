import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startFakeApi } from '../support/fake-messages-api.mjs';
import { FAKE_CLI } from '../support/open-fake-cli.ts';
import { makePlace, type Place } from './wf-process.ts';

const GOOD = `export const meta = { name: 'greet', description: 'Greets all', phases: [{ title: 'Greet', detail: 'one each' }] }
phase('Greet')
const all = await parallel([1, 2, 3].map((n) => () => agent('GREET ' + n, { label: 'greet ' + n })))
return all.filter(Boolean)
`;
const BROKEN = GOOD.replace('[1, 2, 3]', '[1, 2, ');
const WARNED = GOOD.replace('.map((n) => () => agent', '.map((n) => agent');

let place: Place;
let api: Awaited<ReturnType<typeof startFakeApi>>;
afterEach(async () => {
  place.remove();
  await api.close();
});

/** The answers of the model that writes, in their order; the last one repeats. */
async function open(...answers: readonly string[]): Promise<void> {
  const rules = answers.map((text, at) => ({
    match: 'Write a workflow script',
    ...(at < answers.length - 1 ? { times: 1 } : {}),
    reply: [{ text, usage: { input_tokens: 1000, output_tokens: 100 } }],
  }));
  api = await startFakeApi({ rules: { rules, default: [{ text: 'hello' }] } });
  place = makePlace({ ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'fake' });
}

const asked = (): readonly string[] => api.stats.calls.map(({ prompt }) => prompt);

describe('wf new', () => {
  it('without a yes prints a good script, its phases and the agents of a rehearsal, and runs nothing (C-4)', async () => {
    await open(GOOD);
    const { exit, stdout, stderr } = await place.run('new', 'greet', 'everybody', '--args', '{"who":"all"}');
    expect([exit, stdout]).toEqual([0, GOOD]);
    expect(stderr).toMatch(/greet: Greets all\n {2}▸ Greet: one each \(3 agents\)\n {2}about 3 agents/);
    expect(stderr).toMatch(/written with 100 output tokens, \$0\.0030/);
    expect(stderr).toMatch(/--save NAME.*--yes/);
    expect(asked()).toEqual([expect.stringMatching(/agent\(prompt, options\?\).*greet everybody.*\{"who":"all"\}/s)]);
    expect(place.runIds()).toEqual([]);
  });

  it('with --yes runs it, and with --save keeps it (C-4)', async () => {
    await open(`Sure:\n\`\`\`js\n${GOOD}\`\`\`\nHave fun.`);
    const ended = await place.run('new', 'greet all', '--yes', '--save', 'greet-all', '--output-format', 'json');
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: 'completed', result: ['hello', 'hello', 'hello'] });
    const path = join(place.root, 'work/.wf/workflows/greet-all.js');
    expect(readFileSync(path, 'utf8')).toBe(GOOD);
    const again = await place.run('run', 'greet-all', '--backend', 'simulated');
    expect(again.exit).toBe(0);
    const taken = await place.run('new', 'greet all', '--save', 'greet-all');
    expect([taken.exit, taken.stdout]).toEqual([64, '']);
    expect(asked().filter((prompt) => prompt.includes('Write a workflow'))).toHaveLength(1);
  });

  it('has invalid and careless scripts mended with the words of the checker (C-3, C-4)', async () => {
    await open(BROKEN, WARNED, GOOD);
    const { exit, stdout, stderr } = await place.run('new', 'greet all');
    expect([exit, stdout]).toEqual([0, GOOD]);
    expect(stderr).toMatch(/repair 1 of 3: new-workflow\.js:3:.*repair 2 of 3: line 3/s);
    const [first, second, third] = asked();
    expect(first).not.toContain('Your last script');
    expect(second).toContain(BROKEN);
    expect(second).toMatch(/What the checker says about it\n\n- new-workflow\.js:3:/);
    expect(third).toContain(WARNED);
    expect(third).toMatch(/line 3, column \d+: .*function/);
  });

  it('takes a script that draws warnings to the end, and shows them (C-4)', async () => {
    await open(WARNED);
    const { exit, stdout, stderr } = await place.run('new', 'greet all');
    expect([exit, stdout]).toEqual([0, WARNED]);
    expect(stderr).toMatch(/ {2}warning: line 3/);
    expect(asked()).toHaveLength(4);
  });

  it('gives up after three repairs, with the last script for a person to mend (C-4, C-10)', async () => {
    await open(BROKEN);
    const { exit, stdout, stderr } = await place.run('new', 'greet all', '--yes', '--save', 'broken');
    expect([exit, stdout]).toEqual([65, BROKEN]);
    expect(stderr).toMatch(/still invalid after 3 repairs.*--model.*wf run.*\[SCRIPT_SYNTAX\]/s);
    expect(asked()).toHaveLength(4);
    expect(existsSync(join(place.root, 'work/.wf'))).toBe(false);
    expect(place.runIds()).toEqual([]);
  });

  it('can be written by an agent CLI (A-26, C-4)', async () => {
    await open(GOOD);
    const command = `${process.execPath} '${FAKE_CLI}'`;
    const { exit, stdout } = await place.run('new', 'greet all', '--agent-command', command);
    expect([exit, stdout]).toEqual([0, GOOD]);
  });

  it('is refused without a model, with a way out (C-4, C-10)', async () => {
    await open(GOOD);
    const ended = await place.shell('ANTHROPIC_API_KEY= wf new "greet all"');
    expect([ended.exit, ended.stdout]).toEqual([5, '']);
    expect(ended.stderr).toMatch(/needs a model.*ANTHROPIC_API_KEY.*--backend claude.*\[AGENT_AUTH\]/s);
    const simulated = await place.run('new', 'greet all', '--backend', 'simulated');
    expect([simulated.exit, simulated.stderr]).toEqual([64, expect.stringContaining('cannot write')]);
    expect(asked()).toEqual([]);
  });
});
