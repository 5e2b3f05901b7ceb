import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePlace, type Place, script } from './wf-process.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const SLOW = {
  rules: [{ match: 'SLOW', reply: [{ text: 'late', delayMs: 60_000 }] }],
  default: [{ text: 'ok' }],
};

describe('wf run', () => {
  it('puts the result on stdout and everything for a person on stderr (C-6)', async () => {
    place.put('a.js', script("log('working'); return 'the answer of ' + await agent('x', { label: 'first' })"));
    place.put('r.json', { default: [{ text: 'agent' }] });
    const { exit, stdout, stderr } = await place.run('run', 'a.js', '--responses', 'r.json');
    expect([exit, stdout]).toEqual([0, 'the answer of agent\n']);
    expect(stderr).toMatch(/working/);
    expect(stderr).toMatch(/first/);
  });

  it('without a key agents are simulated, and one line says how to use a model (C-11, A-24)', async () => {
    place.put('a.js', script("return (await agent('x')).length > 0"));
    const text = await place.run('run', 'a.js');
    expect([text.exit, text.stdout]).toEqual([0, 'true\n']);
    expect(text.stderr.match(/ANTHROPIC_API_KEY/g)).toHaveLength(1);
    const json = await place.run('run', 'a.js', '--output-format', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'completed', simulated: true, result: true });
    expect(json.stderr.match(/ANTHROPIC_API_KEY/g)).toHaveLength(1);
  });

  it('a failed script is one object on stdout, its message and code on stderr, no stack (C-6, C-10)', async () => {
    place.put('a.js', script('const o = {}\nreturn o.missing.length'));
    const { exit, stdout, stderr } = await place.run('run', 'a.js', '--output-format', 'json');
    expect(exit).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'failed',
      error: { code: 'SCRIPT_THREW', line: 3 },
      limits_hit: [],
    });
    expect(stderr).toMatch(/error: TypeError.*\[SCRIPT_THREW\]/);
    expect(stderr).toContain('docs/errors/SCRIPT_THREW.md');
    expect(stderr).not.toMatch(/\bat .*\.(ts|js):\d+:\d+\)?$/m);
  });

  it.each([
    [['run', 'a.js', '--concurency', '3'], 64, 'USAGE_INVALID'],
    [['run', 'a.js', '--args', '{oops'], 64, 'USAGE_INVALID'],
    [['run', 'none.js'], 66, 'FILE_MISSING'],
    [['run', 'nosuch'], 66, 'WORKFLOW_UNKNOWN'],
    [['run', 'bad.js'], 65, 'SCRIPT_SYNTAX'],
    [['run', 'a.js', '--backend', 'anthropic'], 5, 'AGENT_AUTH'],
    [['run', 'a.js', '--responses', 'bad.js'], 64, 'USAGE_INVALID'],
    [['run', 'a.js', '--state-dir', 'a.js'], 74, 'STATE_UNWRITABLE'],
    [['resume', 'wf_deadbeef-abc'], 66, 'REPLAY_RUN_UNKNOWN'],
    [['resume', '--last'], 66, 'REPLAY_RUN_UNKNOWN'],
    [['resume'], 64, 'USAGE_INVALID'],
  ])('%j is refused with %s, one object and no run (C-6, C-7)', async (argv, code, name) => {
    place.put('a.js', script("return await agent('SPENT')"));
    place.put('bad.js', script('const = 1'));
    const { exit, stdout, stderr } = await place.run(...argv, '--output-format', 'json');
    expect(exit).toBe(code);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', error: { code: name }, failures: [], limits_hit: [] });
    expect(stderr).toContain(`[${name}]`);
    expect(place.runIds()).toEqual([]);
  });

  it('a large result reaches a slow reader whole (C-6)', async () => {
    place.put('a.js', script("return 'x'.repeat(3_000_000)"));
    const { stdout } = await place.shell('wf run a.js --output-format json | (sleep 1; wc -c)');
    expect(Number(stdout)).toBeGreaterThan(3_000_000);
  });

  it('a reader that goes away early neither fails the run nor sees a stack (E-3)', async () => {
    place.put('a.js', script("return await parallel([1, 2, 3].map((i) => () => agent('A ' + i)))"));
    place.put('r.json', { default: [{ text: 'ok', delayMs: 200 }] });
    const { stdout, stderr } = await place.shell(
      '{ wf run a.js --responses r.json --output-format stream-json; echo "exit $?" >&2; } | head -1',
    );
    expect(JSON.parse(stdout)).toMatchObject({ subtype: 'task_started' });
    expect(stderr).toBe('exit 0\n');
    expect(place.journal().filter((row) => row.type === 'result')).toHaveLength(3);
  });

  it('what it prints after an interruption resumes the run as printed (C-8, C-6)', async () => {
    place.put('a.js', script("return await parallel([() => agent('QUICK'), () => agent('SLOW')])"));
    place.put('r.json', SLOW);
    const run = place.start(
      'run',
      'a.js',
      '--responses',
      'r.json',
      '--output-format',
      'json',
      '--state-dir',
      `${place.state}`,
    );
    await place.until('result', 1);
    run.child.kill('SIGINT');
    const { exit, stdout, stderr } = await run.ended;
    expect(exit).toBe(130);
    const output = JSON.parse(stdout);
    expect(output).toMatchObject({ status: 'killed', error: { code: 'RUN_CANCELLED' }, census: { agents_done: 1 } });
    expect(stderr).toContain(`resume: ${output.resume}`);
    const again = await place.shell(`cd / && ${output.resume} --output-format json`);
    expect(again.exit).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({
      status: 'completed',
      census: { agents_cached: 1 },
      simulated: true,
    });
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 143],
  ] as const)('%s ends a run with %s (C-7)', async (signal, code) => {
    place.put('a.js', script("await agent('QUICK'); return await agent('SLOW')"));
    place.put('r.json', SLOW);
    const run = place.start('run', 'a.js', '--responses', 'r.json');
    await place.until('result', 1);
    run.child.kill(signal);
    expect((await run.ended).exit).toBe(code);
  });

  it('a resume goes on with the options of the launch before (C-2)', async () => {
    place.put('a.js', script("await agent('one'); return await agent('two')"));
    place.put('r.json', { default: [{ text: 'ok' }] });
    const first = await place.run(
      'run',
      'a.js',
      '--responses',
      'r.json',
      '--max-agents',
      '1',
      '--output-format',
      'json',
    );
    expect(first.exit).toBe(4);
    const { runId } = JSON.parse(first.stdout);
    const same = await place.run('resume', runId, '--output-format', 'json');
    expect(same.exit).toBe(4);
    expect(same.stderr).toMatch(/planned answers/);
    const raised = await place.run('resume', runId, '--responses', 'r.json', '--max-agents', '2');
    expect([raised.exit, raised.stdout]).toEqual([0, 'ok\n']);
  });

  it('--record writes planned answers that give the same run again (C-12)', async () => {
    place.put(
      'a.js',
      script("return [await agent('one + one'), await agent('two', { schema: { type: 'array', items: {} } })]"),
    );
    place.put('r.json', {
      rules: [{ match: 'two', reply: [{ json: [1, { a: null }] }] }],
      default: [{ text: 'it is $1' }],
    });
    const recorded = await place.run('run', 'a.js', '--responses', 'r.json', '--record', 'out.json');
    expect(recorded.exit).toBe(0);
    const same = await place.run('run', 'a.js', '--responses', 'out.json', '--record', './out.json');
    expect([same.exit, same.stderr]).toEqual([64, expect.stringContaining('would replace the file of --responses')]);
    const again = await place.run('run', 'a.js', '--responses', 'out.json');
    expect(again.stdout).toBe(recorded.stdout);
    expect(JSON.parse(readFileSync(join(place.root, 'work/out.json'), 'utf8')).rules).toHaveLength(2);
  });

  it('the kill switch of a settings file is named and nothing runs (H-5, C-7)', async () => {
    place.put('a.js', script("return await agent('SPENT')"));
    place.put('.wf/settings.json', { disableWorkflows: true });
    const { exit, stderr } = await place.run('run', 'a.js');
    expect(exit).toBe(69);
    expect(stderr).toContain('.wf/settings.json');
    expect(existsSync(join(place.state, 'runs'))).toBe(false);
  });
});
