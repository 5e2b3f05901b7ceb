import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WORKFLOW_INPUT_SCHEMA } from '../../hosts/workflow-tool/tool-input.ts';
import { makePlace, type Place, script, type WfProcess } from './wf-process.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
  place.put('quick.js', script("return await agent('QUICK', { label: 'the quick one' })"));
  place.put('slow.js', script("await agent('QUICK', { label: 'the quick one' }); return await agent('SLOW')"));
  place.put('r.json', {
    rules: [{ match: 'SLOW', reply: [{ text: 'late', delayMs: 60_000 }] }],
    default: [{ text: 'ok' }],
  });
});
afterEach(() => place.remove());

async function startSlow(): Promise<WfProcess> {
  const run = place.start('run', 'slow.js', '--responses', 'r.json');
  await place.until('result', 1);
  return run;
}

describe('commands about runs', () => {
  it('list and show know a live run from one that is over, by short ids too (C-5)', async () => {
    const empty = await place.run('list');
    expect([empty.exit, empty.stdout]).toEqual([0, '']);
    const run = await startSlow();
    const [runId = ''] = place.runIds();
    expect(JSON.parse((await place.run('list', '--json')).stdout)).toMatchObject([
      { runId, status: 'running', owner: { pid: run.child.pid } },
    ]);
    expect((await place.run('show', runId.slice(0, 8))).stdout).toMatch(/running, by process \d+/);
    run.child.kill('SIGKILL');
    await run.ended;
    expect((await place.run('list')).stdout).toMatch(new RegExp(`${runId} +interrupted`));
    const shown = JSON.parse((await place.run('show', '--last', '--json')).stdout);
    expect(shown).toMatchObject({
      runId,
      status: 'interrupted',
      name: 'e2e',
      agents: [{ label: 'the quick one', state: 'done' }, {}],
    });
    const unnamed = await place.run('show');
    expect([unnamed.exit, unnamed.stderr]).toEqual([64, expect.stringContaining('wf list shows them')]);
    const logs = await place.run('logs', '--last', '-f');
    expect([logs.exit, logs.stderr]).toEqual([
      0,
      `note: the run ends here because its process is gone; go on with: wf resume ${runId}\n`,
    ]);
  });

  it('stop ends a live run and waits for it; stopping again is no error (C-5)', async () => {
    const run = await startSlow();
    const [runId = ''] = place.runIds();
    const stop = await place.run('stop', runId);
    expect([stop.exit, stop.stderr]).toEqual([0, `run ${runId} has ended: stopped\n`]);
    expect((await run.ended).exit).toBe(143);
    expect(JSON.parse((await place.run('stop', runId, '--json')).stdout)).toEqual({ runId, status: 'killed' });
  });

  it('logs prints the very lines that a live reader saw (E-2)', async () => {
    const stream = ['--output-format', 'stream-json'];
    const live = await place.run('run', 'quick.js', '--responses', 'r.json', ...stream);
    const [runId = ''] = place.runIds();
    const critical = (text: string) =>
      text.split('\n').filter((line) => /task_(started|updated|notification)/.test(line));
    const stored = await place.run('logs', runId, ...stream);
    expect(critical(stored.stdout)).toEqual(critical(live.stdout));
    expect(critical(live.stdout)).toHaveLength(3);
    expect((await place.run('logs', runId)).stdout).toMatch(/the quick one/);
    const events = (await place.run('logs', runId, '--output-format', 'json')).stdout.trim().split('\n');
    expect(events.map((line) => JSON.parse(line).seq)).toEqual(events.map((_, i) => i + 1));
  });

  it('logs -f follows a live run to its end (C-5)', async () => {
    const run = await startSlow();
    const [runId = ''] = place.runIds();
    const logs = place.start('logs', runId, '-f', '--output-format', 'stream-json');
    await new Promise((resolve) => logs.child.stdout?.once('data', resolve));
    run.child.kill('SIGINT');
    await run.ended;
    const { exit, stdout } = await logs.ended;
    expect(exit).toBe(0);
    expect(stdout).toMatch(/task_notification.*"status":"stopped"/);
  });

  it('clean removes what is over, asks first, and leaves live runs alone (C-5)', async () => {
    const run = await startSlow();
    const [live = ''] = place.runIds();
    await place.run('run', 'quick.js', '--responses', 'r.json');
    const over = place.runIds().find((id) => id !== live);
    expect(JSON.parse((await place.run('clean', '--dry-run', '--json')).stdout)).toEqual({
      removed: [over],
      dryRun: true,
    });
    expect((await place.run('clean', '--older-than', '7d', '--yes')).stderr).toBe('removed 0 runs\n');
    const unasked = await place.run('clean');
    expect([unasked.exit, place.runIds().length]).toEqual([64, 2]);
    expect((await place.run('clean', live, '--yes')).exit).toBe(75);
    expect((await place.run('clean', '--yes')).stdout).toContain(over);
    expect(place.runIds()).toEqual([live]);
    run.child.kill('SIGINT');
    await run.ended;
  });
});

describe('commands about the machine', () => {
  it('doctor runs a script in a real sandbox and never prints a key (C-5, A-32)', async () => {
    const keyed = makePlace({ ANTHROPIC_API_KEY: 'sk-ant-secret-0123456789' });
    try {
      const { exit, stdout } = await keyed.run('doctor');
      expect(exit).toBe(0);
      expect(stdout).toMatch(/ok +sandbox +isolated-vm runs a script/);
      expect(stdout).toMatch(/ANTHROPIC_API_KEY is set/);
      expect(stdout).not.toContain('secret');
    } finally {
      keyed.remove();
    }
  });

  it('doctor names a place where no directory can be made, and does not hang on it (C-7, C-9)', async () => {
    const { exit, stdout } = await place.run('doctor', '--state-dir', '/proc/nothing-here');
    expect([exit, stdout]).toEqual([74, expect.stringContaining('/proc/nothing-here')]);
  });

  it('doctor ends with the code that a run would have (C-7)', async () => {
    const { exit, stdout } = await place.run('doctor', '--json', '--state-dir', 'quick.js');
    expect(exit).toBe(74);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false });
  });

  it('schema prints JSON Schemas of the formats, types the globals of a script (C-5)', async () => {
    const all = JSON.parse((await place.run('schema')).stdout);
    expect(Object.keys(all)).toContain('run-output');
    expect(all['workflow-tool-input']).toMatchObject(WORKFLOW_INPUT_SCHEMA);
    expect(JSON.parse((await place.run('schema', 'run-output')).stdout)).toEqual(all['run-output']);
    expect((await place.run('schema', 'run-outptu')).stderr).toContain('Did you mean run-output?');
    expect((await place.run('types')).stdout).toMatch(/function agent|const agent/);
  });

  it('list --workflows names the saved ones that are valid and those that are built in (H-21)', async () => {
    place.put('.wf/workflows/good.js', script('return 1'));
    place.put('.wf/workflows/broken.js', 'return 1');
    expect(JSON.parse((await place.run('list', '--workflows', '--json')).stdout)).toMatchObject([
      { name: 'deep-research', builtIn: true },
      { name: 'good', builtIn: false },
      { name: 'review', builtIn: true },
    ]);
    expect((await place.run('list', '--workflows')).stdout).toMatch(/^review +Reviews code.* \(built in\)$/m);
    expect((await place.run('run', 'broken')).stderr).toMatch(/meta/);
  });

  it('a built-in workflow runs by its name, with args (H-22)', async () => {
    const args = ['--args', '{"question": "Tabs or spaces?", "depth": "quick"}', '--output-format', 'json'];
    const { exit, stdout } = await place.run('run', 'deep-research', '--backend', 'simulated', ...args);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'completed',
      result: { question: 'Tabs or spaces?', depth: 'quick' },
    });
    const bare = await place.run('run', 'deep-research', '--backend', 'simulated');
    expect([bare.exit, bare.stderr]).toEqual([1, expect.stringContaining('deep-research needs a question')]);
  });

  it('the kill switch lists no workflow and ends with 69 and one line that names it (H-5)', async () => {
    place.put('.codebuddy/settings.json', { enableWorkflows: false });
    for (const argv of [
      ['list', '--workflows'],
      ['run', 'review'],
      ['resume', '--last'],
    ]) {
      const { exit, stdout, stderr } = await place.run(...argv);
      expect([argv, exit, stdout]).toEqual([argv, 69, '']);
      expect(stderr).toMatch(
        /^error: .*"enableWorkflows": false in .*\.codebuddy\/settings\.json.*\[WORKFLOWS_DISABLED\]$/m,
      );
    }
  });

  it('check accepts, refuses and warns, for people and for tools (C-3)', async () => {
    place.put('bad.js', script('const = 1'));
    place.put('warns.js', script("agent('FORGOTTEN')\nreturn 1"));
    const { exit, stdout, stderr } = await place.run('check', 'quick.js', 'warns.js', 'bad.js');
    expect(exit).toBe(65);
    expect(stdout).toMatch(/^quick\.js: workflow "e2e" is valid, no warnings$/m);
    expect(stdout).toMatch(/^warns\.js:2:\d+ warning not-awaited /m);
    expect(stderr).toMatch(/bad\.js:2/);
    const json = JSON.parse((await place.run('check', '--json', 'warns.js', 'bad.js')).stdout);
    expect(json.scripts).toMatchObject([
      { valid: true, warnings: [{ line: 2 }] },
      { valid: false, error: { line: 2 } },
    ]);
  });

  it('completion scripts are accepted by their shell (C-10)', async () => {
    const { exit, stdout } = await place.shell('wf completion bash > c && bash -n c; wf completion fish | head -3');
    expect(exit).toBe(0);
    expect(stdout).toMatch(/complete -c wf/);
  });
});
