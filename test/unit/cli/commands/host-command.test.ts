import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CliContext } from '../../../../cli/cli-context.ts';
import { runCli } from '../../../../cli/run-cli.ts';
import { fakeContext } from '../fake-context.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'wf-host-unit-')));
  for (const folder of ['here', 'there', 'home']) mkdirSync(join(root, folder));
});
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

async function wf(argv: readonly string[], parts: Partial<CliContext> = {}) {
  const context = fakeContext({ argv, cwd: join(root, 'here'), homeDirectory: join(root, 'home'), ...parts });
  const exit = await runCli(context);
  return { exit, ...context.printed };
}

describe('wf -p', () => {
  it('exits with 69 and names the switch when it names a workflow where they are switched off (H-5, C-7)', async () => {
    const env = { WF_DISABLE_WORKFLOWS: '1' };
    const refused = await wf(['-p', '/review src'], { env });
    expect(refused).toMatchObject({ exit: 69, stdout: expect.stringMatching(/WF_DISABLE_WORKFLOWS=1.*DISABLED\]\n$/) });
    expect(await wf(['-p', 'hello'], { env })).toMatchObject({ exit: 1 });
  });

  it('goes on with the last conversation of the directory with --continue, else begins one (H-6)', async () => {
    const idOf = async (argv: readonly string[], folder = 'here'): Promise<string> => {
      const { stdout } = await wf(['-p', 'hello', '--output-format', 'json', ...argv], { cwd: join(root, folder) });
      return (JSON.parse(stdout) as { session_id: string }).session_id;
    };
    const first = await idOf(['--continue']);
    const second = await idOf([]);
    const elsewhere = await idOf([], 'there');
    expect(new Set([first, second, elsewhere]).size).toBe(3);
    expect(await idOf(['-c'])).toBe(second);
    expect(await idOf(['--continue'], 'there')).toBe(elsewhere);
    expect(await idOf(['--continue', '--fork-session'])).not.toBe(second);
    expect(await wf(['-p', 'x', '-c', '--resume', second])).toMatchObject({
      exit: 64,
      stderr: expect.stringContaining('not both'),
    });
  });
});

describe('the hooks of a session', () => {
  it('SessionStart comes first and SessionEnd last, with the session and its conversation; --no-hooks runs none (H-17)', async () => {
    const log = join(root, 'log');
    const hook = [{ hooks: [{ type: 'command', command: `cat >> '${log}'; echo >> '${log}'` }] }];
    mkdirSync(join(root, 'here/.claude'));
    writeFileSync(
      join(root, 'here/.claude/settings.json'),
      JSON.stringify({ hooks: { SessionStart: hook, SessionEnd: hook } }),
    );
    const env = { PATH: process.env['PATH'] };
    await wf(['-p', 'hello', '--no-hooks'], { env });
    expect(existsSync(log)).toBe(false);
    await wf(['-p', 'hello', '--session-id', 'one'], { env });
    await wf(['-p', 'hello', '--resume', 'one'], { env });
    const told = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.map((each) => [each['hook_event_name'], each['source'] ?? each['reason']])).toEqual([
      ['SessionStart', 'startup'],
      ['SessionEnd', 'other'],
      ['SessionStart', 'resume'],
      ['SessionEnd', 'other'],
    ]);
    for (const each of told) {
      expect(each).toMatchObject({ session_id: 'one', cwd: join(root, 'here') });
      expect(existsSync(String(each['transcript_path']))).toBe(true);
    }
  });
});

describe('the stream-json host', () => {
  it('tells a person who starts it in a terminal what it waits for, and a program nothing (H-6)', async () => {
    const started = (isTTY: boolean) => {
      const stdin = Object.assign(new PassThrough(), { isTTY });
      stdin.end();
      return wf(['--input-format', 'stream-json', '--output-format', 'stream-json'], { stdin });
    };
    expect(await started(true)).toMatchObject({ exit: 0, stderr: expect.stringMatching(/^note: .*stdin.*wf -p/) });
    expect(await started(false)).toMatchObject({ exit: 0, stdout: '', stderr: '' });
  });
});
