import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../../cli/run-cli.ts';
import { fakeContext } from '../fake-context.ts';

const SCRIPT = `export const meta = { name: 'forked', description: 'd' }
const parts = await parallel(['a', 'b'].map((name) => () => agent('look at ' + name, { label: name })))
return { parts, sum: await agent('sum up', { label: 'sum' }) }
`;
const ANSWERS = (tone: string) => JSON.stringify({ rules: [{ match: '^(.+)$', reply: [{ text: `${tone} $1` }] }] });

const root = mkdtempSync(join(tmpdir(), 'wf-fork-'));
const cwd = join(root, 'work');
let first = '';

beforeAll(async () => {
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'script.js'), SCRIPT);
  writeFileSync(join(cwd, 'edited.js'), SCRIPT.replace('sum up', 'sum it all up'));
  writeFileSync(join(cwd, 'broken.js'), `${SCRIPT}}`);
  writeFileSync(join(cwd, 'old.json'), ANSWERS('old'));
  writeFileSync(join(cwd, 'new.json'), ANSWERS('new'));
  const run = await wf('run', 'script.js', '--responses', 'old.json', '--args', '{"n":1}', '--output-format', 'json');
  first = JSON.parse(run.stdout).runId;
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

async function wf(...argv: readonly string[]) {
  const context = fakeContext({ argv, cwd, homeDirectory: root });
  const exit = await runCli(context);
  return { exit, ...context.printed };
}

/** Forks the first run and gives the one object of its end. */
async function fork(...flags: readonly string[]) {
  const { exit, stdout, stderr } = await wf(
    'fork',
    first,
    '--responses',
    'new.json',
    '--output-format',
    'json',
    ...flags,
  );
  return { exit, stderr, output: JSON.parse(stdout) };
}

describe('wf fork', () => {
  it('goes on with a copy that has all answers up to a label', async () => {
    const { exit, output, stderr } = await fork('--from', 'sum');
    expect(exit).toBe(0);
    expect(output.result).toEqual({ parts: ['old look at a', 'old look at b'], sum: 'new sum up' });
    expect(output.census).toMatchObject({ agents_cached: 2, agents_done: 3 });
    expect(output.runId).not.toBe(first);
    expect(stderr).toContain(`note: run ${output.runId} has 2 answers of ${first}, and not the later one`);
  });

  it('runs an edited script, and what it asks as before has its answer (R-11)', async () => {
    const { output, stderr } = await fork('--edit', 'edited.js');
    expect(output.result).toEqual({ parts: ['old look at a', 'old look at b'], sum: 'new sum it all up' });
    expect(stderr).toContain('note: The script was edited since the last launch');
  });

  it('only makes the run with --no-run, which resumes as printed (C-6)', async () => {
    const made = await wf('fork', first, '--from', '/parallel:0/item:1', '--edit', 'edited.js', '--no-run');
    const runId = made.stdout.trim();
    expect(made.stderr).toBe(
      `run ${runId} has 1 answer of ${first}, and not the later 2\n  resume: wf resume ${runId}\n`,
    );
    expect(JSON.parse((await wf('show', runId, '--json')).stdout).status).toBe('interrupted');
    expect(await wf('logs', runId)).toEqual({
      exit: 0,
      stdout: '',
      stderr: `note: the run has said nothing yet; launch it with: wf resume ${runId}\n`,
    });
    const resumed = await wf('resume', runId, '--responses', 'new.json', '--output-format', 'json');
    expect(JSON.parse(resumed.stdout).result).toEqual({
      parts: ['old look at a', 'new look at b'],
      sum: 'new sum it all up',
    });
  });

  it('is refused for a call that there is not, and for a script that is invalid, and makes no run (C-7)', async () => {
    const before = JSON.parse((await wf('list', '--json')).stdout).length;
    const unknown = await fork('--from', 'nowhere');
    expect(unknown).toMatchObject({ exit: 64, output: { status: 'failed', error: { code: 'USAGE_INVALID' } } });
    expect((await fork('--edit', 'broken.js')).exit).toBe(65);
    expect((await wf('fork', 'wf_nothing', '--no-run')).exit).toBe(66);
    expect(JSON.parse((await wf('list', '--json')).stdout)).toHaveLength(before);
  });
});

describe('wf diff', () => {
  it('says that a run is the same as itself', async () => {
    const { exit, stdout } = await wf('diff', first, first.slice(0, 8));
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^runs +wf_/);
    expect(stdout).toMatch(
      /\nscript +the same\nargs +the same\nresult +the same\ncalls +3 in both, 0 and 0 in one only\n$/,
    );
  });

  it('shows other answers and where the results differ', async () => {
    const { output } = await fork('--from', 'b');
    const { exit, stdout } = await wf('diff', first, output.runId);
    expect(exit).toBe(1);
    expect(stdout).toContain('differs at parts[1]: "old look at b" and "new look at b"');
    expect(stdout).toMatch(/other answer\n +- b +"old look at b"\n +\+ b +"new look at b"\n +- sum/);
    const json = JSON.parse((await wf('diff', first, output.runId, '--json')).stdout);
    expect(json).toMatchObject({
      same: false,
      sameScript: true,
      resultDifference: { path: 'parts[1]' },
      matched: 3,
      otherResults: [
        { left: { label: 'b', resultPreview: '"old look at b"' }, right: { resultPreview: '"new look at b"' } },
        { left: { label: 'sum' } },
      ],
      onlyLeft: [],
      changed: [],
    });
  });

  it('shows what one place asks otherwise', async () => {
    const { output } = await fork('--edit', 'edited.js');
    const { stdout } = await wf('diff', first, output.runId);
    expect(stdout).toMatch(/script +not the same/);
    expect(stdout).toMatch(/asks something else\n +- sum +sum up\n +\+ sum +sum it all up\n/);
  });
});
