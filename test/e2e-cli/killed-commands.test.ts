import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processLives } from '../support/process-lives.ts';
import { waitUntil } from '../support/wait-until.ts';
import { makePlace, type Place, script } from './wf-process.ts';

describe('what agents started', () => {
  let place: Place;
  const pidOf = (file: string): number => {
    try {
      return Number(readFileSync(join(place.root, 'work', file), 'utf8'));
    } catch {
      return 0;
    }
  };
  const expectDeadSoon = async (pid: number): Promise<void> => {
    const deadline = Date.now() + 2_000;
    await waitUntil(() => !processLives(pid) || Date.now() > deadline);
    expect(processLives(pid)).toBe(false);
  };
  beforeEach(() => {
    place = makePlace();
    place.put('flow.js', script(`return await agent('look')`));
  });
  afterEach(() => place.remove());

  it('all of a command of Bash is dead soon after wf was killed by SIGKILL, and its files are gone (A-18)', async () => {
    const command = [
      'touch "$TMPDIR/file"; echo "$TMPDIR" > directory',
      `setsid sh -c 'echo $$ > left-group; exec sleep 60' >/dev/null 2>&1 &`,
      `env -i setsid sh -c 'echo $$ > left-all; exec sleep 60' >/dev/null 2>&1 &`,
      'until [ -s left-group ] && [ -s left-all ]; do sleep 0.02; done',
      'sleep 60 & echo $! > pid; sleep 60',
    ].join('\n');
    place.put('answers.json', { default: [{ tool: { name: 'Bash', input: { command } } }, { text: 'seen' }] });
    const mode = ['--permission-mode', 'bypassPermissions', '--bash-sandbox', 'off'];
    const wf = place.start('run', 'flow.js', '--responses', 'answers.json', ...mode);
    await waitUntil(() => pidOf('pid') > 0);
    wf.child.kill('SIGKILL');
    await wf.ended;
    for (const file of ['pid', 'left-group', 'left-all']) await expectDeadSoon(pidOf(file));
    const directory = readFileSync(join(place.root, 'work/directory'), 'utf8').trim();
    await waitUntil(() => !existsSync(dirname(directory)));
  });

  it('a hook is dead soon after wf was killed by SIGKILL (A-18)', async () => {
    place.put('answers.json', { default: [{ tool: { name: 'Glob', input: { pattern: '*' } } }, { text: 'seen' }] });
    const command = 'sleep 0.2; echo $$ > pid; exec sleep 60';
    place.put('.wf/settings.json', { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command }] }] } });
    const wf = place.start('run', 'flow.js', '--responses', 'answers.json');
    await waitUntil(() => pidOf('pid') > 0);
    wf.child.kill('SIGKILL');
    await wf.ended;
    await expectDeadSoon(pidOf('pid'));
  });

  it('a hook that ignores SIGTERM does not outlive a run that ends within its second (H-18)', async () => {
    place.put('answers.json', { default: [{ tool: { name: 'Glob', input: { pattern: '*' } } }, { text: 'seen' }] });
    const command = 'echo $$ > pid; trap "" TERM; while [ -e flow.js ]; do sleep 0.1; done';
    place.put('.wf/settings.json', {
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command, timeout: 0.5 }] }] },
    });
    expect((await place.run('run', 'flow.js', '--responses', 'answers.json')).exit).toBe(0);
    expect(pidOf('pid')).toBeGreaterThan(0);
    await expectDeadSoon(pidOf('pid'));
  });
});
