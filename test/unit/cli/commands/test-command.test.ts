import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../../cli/run-cli.ts';
import { fakeContext } from '../fake-context.ts';

const root = mkdtempSync(join(tmpdir(), 'wf-try-'));
const cwd = join(root, 'work');

const FRAGILE = `export const meta = { name: 'fragile', description: 'd' }
const text = await agent('say ' + args.word, { label: 'first' })
return text.length
`;
const STURDY = `export const meta = { name: 'sturdy', description: 'd' }
return { text: await agent('say it') }
`;

beforeAll(() => {
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'fragile.js'), FRAGILE);
  writeFileSync(join(cwd, 'sturdy.js'), STURDY);
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

async function wf(...argv: readonly string[]) {
  const context = fakeContext({ argv, cwd, homeDirectory: root });
  const exit = await runCli(context);
  return { exit, ...context.printed };
}

describe('wf test', () => {
  it('ends with 0 when nothing was found, and always prints its seed', async () => {
    const { exit, stdout, stderr } = await wf('test', 'sturdy.js', '--seed', '7');
    expect([exit, stderr]).toEqual([0, 'testing sturdy.js with seed 7\n']);
    expect(stdout).toMatch(/^sturdy\.js: 1 call, 4 variants, seed 7\n/);
    expect(stdout).toMatch(/\n +null +1 +nothing found\n/);
    expect(stdout).toMatch(/\n\nnothing found\n$/);
  });

  it('ends with 1 when something was, and says where and how to see it again', async () => {
    const { exit, stdout } = await wf('test', 'fragile.js', '--arg', "word=don't");
    expect(exit).toBe(1);
    expect(stdout).toContain(`
fragile.js:3 error crashes-on-null
  When call 1 "first" (line 2) is null, the script crashes: TypeError: Cannot read properties of null (reading 'length') at fragile.js:3:13
  try: wf test fragile.js --arg 'word=don'\\''t' --only null:1 --seed 1

1 error, 0 warnings
`);
  });

  it('prints one object with --json, runs what --only names, and leaves out what --ignore names', async () => {
    const only = ['test', 'fragile.js', '--args', '{"word":"x"}', '--only', 'null:1', '--json', '--quiet'];
    const found = await wf(...only);
    expect([found.exit, found.stderr]).toEqual([1, '']);
    expect(JSON.parse(found.stdout)).toEqual({
      script: 'fragile.js',
      seed: 1,
      calls: [{ number: 1, label: 'first', scope: '', line: 2 }],
      standIns: 0,
      ran: { order: 0, null: 1, reject: 0, bad: 0, budget: 0, kill: 0 },
      leftOut: 0,
      findings: [
        {
          kind: 'crashes-on-null',
          severity: 'error',
          message: expect.stringContaining('TypeError'),
          line: 3,
          variants: ['null:1'],
          reproduce: `wf test fragile.js --args '{"word":"x"}' --only null:1 --seed 1`,
        },
      ],
    });
    expect((await wf(...only, '--ignore', 'crashes-on-null')).exit).toBe(0);
  });

  it('takes the answers of a real run, and simulates what they do not know (C-12)', async () => {
    const rules = [{ match: '^say it$', reply: [{ text: 'it', delayMs: 60_000 }] }];
    writeFileSync(join(cwd, 'recorded.json'), JSON.stringify({ rules }));
    const known = await wf('test', 'sturdy.js', '--responses', 'recorded.json', '--only', 'null', '--only', 'kill');
    expect(known).toMatchObject({ exit: 0, stderr: 'testing sturdy.js with seed 1\n' });
    const run = await wf('run', 'sturdy.js', '--backend', 'simulated', '--record', 'other.json');
    expect(run.exit).toBe(0);
    const strange = await wf('test', 'fragile.js', '--arg', 'word=x', '--responses', 'other.json', '--only', 'kill');
    expect(strange.stderr).toContain('note: simulated, since other.json has no answer: 1 call\n');
  });

  it('refuses words that name no variant, and a number that names no call (C-10)', async () => {
    expect(await wf('test', 'sturdy.js', '--only', 'nul')).toMatchObject({
      exit: 64,
      stderr: expect.stringContaining('Did you mean null?'),
    });
    expect(await wf('test', 'sturdy.js', '--only', 'null:x')).toMatchObject({ exit: 64 });
    expect(await wf('test', 'sturdy.js', '--only', 'null:9')).toMatchObject({
      exit: 64,
      stderr: expect.stringContaining('--only names nothing that can be done'),
    });
    expect(await wf('test', 'none.js')).toMatchObject({ exit: 66 });
  });
});
