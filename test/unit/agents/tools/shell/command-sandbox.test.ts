import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bashTool } from '../../../../../agents/tools/shell/bash.ts';
import {
  boundsOf,
  type CommandSandbox,
  openCommandSandbox,
  type SandboxState,
} from '../../../../../agents/tools/shell/command-sandbox.ts';
import { FakeReporter } from '../../../../support/fake-reporter.ts';
import { toolContext } from '../../../../support/tool-context.ts';

let root = '';
let cwd = '';
beforeEach(async () => {
  root = await realpath(await mkdtemp(path.join(tmpdir(), 'wf-box-')));
  cwd = path.join(root, 'work');
  await mkdir(cwd);
});

afterEach(() => rm(root, { recursive: true, force: true }));

const searchPath = process.env['PATH'] ?? '';

async function run(state: SandboxState, command: string, sandbox: 'auto' | 'required' | 'off' = 'auto') {
  const report = new FakeReporter();
  const context = toolContext(cwd, { report, shell: { sandbox }, openSandbox: async () => state });
  const { text } = await bashTool.run({ command }, context);
  await context.session.close();
  return { text, warnings: report.warnings };
}

/** Tells in the output that it was used. */
function fakeSandbox(log: string[]): CommandSandbox {
  return {
    async wrap(command, bounds) {
      log.push(...bounds.writable);
      return `echo "in the box"\n${command}`;
    },
    helpers: { pids: [], paths: [] },
    ended: () => log.push('ended'),
    close: async () => {
      log.push('closed');
    },
  };
}

describe('the sandbox of Bash', () => {
  it('is used where there is one, and told when each command has ended (A-29)', async () => {
    const log: string[] = [];
    const { text, warnings } = await run({ kind: 'on', sandbox: fakeSandbox(log) }, 'echo hi');
    expect(text).toBe('in the box\nhi');
    expect(warnings).toEqual([]);
    expect(log).toEqual([cwd, expect.stringContaining('wf-shell-'), 'ended']);
  });

  it('is named with the reason where there is none, or refused if only it will do (A-29)', async () => {
    const none: SandboxState = { kind: 'none', why: 'bwrap is not installed' };
    expect(await run(none, 'echo hi')).toEqual({
      text: 'hi',
      warnings: ['Bash runs without a sandbox of the operating system: bwrap is not installed.'],
    });
    expect((await run(none, 'echo hi', 'required')).text).toMatch(/^Bash is refused: .*bwrap is not installed/);
    expect((await run(none, 'echo hi', 'off')).warnings).toEqual([
      'Bash runs without a sandbox of the operating system: it is switched off.',
    ]);
  });

  it('is not there without its programs, and says which to install (A-29)', async () => {
    const state = await openCommandSandbox(cwd, []);
    expect(state).toEqual({
      kind: 'none',
      why: expect.stringMatching(process.platform === 'linux' ? /needs bwrap, socat, rg.*apt install/ : /./),
    });
  });

  it('leaves a git worktree the repository that it belongs to, but not its hooks and settings (A-29, A-30)', async () => {
    const git = (...words: string[]) => execFileSync('git', words, { cwd, stdio: 'pipe' });
    git('init', '-q');
    git('-c', 'user.name=a', '-c', 'user.email=b', 'commit', '-q', '--allow-empty', '-m', 'x');
    git('worktree', 'add', '-q', '../tree');
    const tree = path.join(root, 'tree');
    const common = path.join(cwd, '.git');
    const bounds = await boundsOf(tree, '/tmp/x');
    expect(bounds.writable).toEqual([tree, '/tmp/x', common]);
    expect(bounds.readOnly).toEqual(expect.arrayContaining([path.join(common, 'hooks'), path.join(common, 'config')]));
    const forged = path.join(root, 'forged');
    await mkdir(forged);
    await writeFile(path.join(forged, '.git'), await readFile(path.join(tree, '.git')));
    expect((await boundsOf(forged, '/tmp/x')).writable).toEqual([forged, '/tmp/x']);
  });
});

/** On a machine whose sandbox works, what it must stop; elsewhere, that wf says so. Both are asserted above with a fake. */
describe('the sandbox of this machine', () => {
  let state: SandboxState;
  beforeAll(async () => {
    state = await openCommandSandbox(searchPath, []);
  });
  afterAll(async () => {
    if (state.kind === 'on') await state.sandbox.close();
  });

  it('bounds what commands write and reach, or is reported missing with a reason (A-29)', async () => {
    if (state.kind === 'none') {
      expect(state.why).toMatch(/\w{3}/);
      return;
    }
    await mkdir(path.join(cwd, '.git/hooks'), { recursive: true });
    const script = [
      'echo in > inside.txt; echo t > $TMPDIR/t && cat $TMPDIR/t',
      'echo out > ../outside.txt',
      'echo h > .git/hooks/pre-commit',
      '(exec 3<>/dev/tcp/127.0.0.1/1) 2>&1 | head -c 300',
      'sleep 60 & cd / ; exit 7',
    ].join('\n');
    const { text, warnings } = await run(state, script);
    expect(warnings).toEqual([]);
    expect(text).toMatch(/^t\n/);
    expect(text.match(/Read-only file system|Operation not permitted/g)).toHaveLength(2);
    expect(text).toContain('[exit code 7]');
    expect(text).toContain('starts in the working directory again');
    expect(await readdir(root)).toEqual(['work']);
    expect(await readFile(path.join(cwd, 'inside.txt'), 'utf8')).toBe('in\n');
    expect(await readdir(path.join(cwd, '.git/hooks'))).toEqual([]);
  });

  it('leaves no listener on the signals of the process that uses it (A-29)', () => {
    const names = ['SIGINT', 'SIGTERM'] as const;
    const listeners = names.flatMap((name) => process.listeners(name).map(String));
    expect(listeners.filter((text) => text.includes('reset()'))).toEqual([]);
  });
});
