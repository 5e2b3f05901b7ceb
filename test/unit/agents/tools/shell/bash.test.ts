import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolContext, ToolOutput } from '../../../../../agents/tools/agent-tool.ts';
import { readTool } from '../../../../../agents/tools/files/read.ts';
import { bashTool } from '../../../../../agents/tools/shell/bash.ts';
import { bashOutputTool } from '../../../../../agents/tools/shell/bash-output.ts';
import { FakeReporter } from '../../../../support/fake-reporter.ts';
import { processesWith } from '../../../../support/living-processes.ts';
import { processLives } from '../../../../support/process-lives.ts';
import { toolContext } from '../../../../support/tool-context.ts';
import { waitUntil } from '../../../../support/wait-until.ts';

let cwd = '';
let context: ToolContext;
let marked = '';
beforeEach(async () => {
  cwd = await realpath(await mkdtemp(path.join(tmpdir(), 'wf-bash-')));
  use(toolContext(cwd));
});
afterEach(async () => {
  await context.session.close();
  expect(await processesWith(marked)).toEqual([]);
  await rm(cwd, { recursive: true, force: true });
});

function use(other: ToolContext): void {
  context = other;
  marked = `${context.session.mark.name}=${context.session.mark.value}`;
}

const bash = (command: string, more = {}): Promise<ToolOutput> => bashTool.run({ command, ...more }, context);
const text = async (command: string, more = {}): Promise<string> => (await bash(command, more)).text;
const output = async (input: object): Promise<string> => (await bashOutputTool.run(input, context)).text;

describe('Bash', () => {
  it('gives both outputs in their order, and the exit code (A-25)', async () => {
    expect(await bash('echo out; echo err >&2; echo out2')).toEqual({
      text: 'out\nerr\nout2',
      isError: false,
      summary: 'exit code 0',
      exitCode: 0,
    });
    expect(await bash('echo x; exit 3')).toMatchObject({ text: 'x\n[exit code 3]', isError: true, exitCode: 3 });
    expect(await text('true')).toBe('[no output, exit code 0]');
    expect(await text('kill -9 $$')).toBe('[ended by SIGKILL]');
    expect(await text('if then')).toMatch(/syntax error[\s\S]*\[exit code 2\]/);
    expect(await text("cat <<'E'\nit's $x\nE")).toBe("it's $x");
    expect(await text('read x; echo "<$x>"; tty')).toMatch(/^<>\nnot a tty/);
    expect(await text('printf "\\033[31mred\\033[0m\\r\\n"')).toBe('red');
    expect(await text('printf "a\\0b\\001\\377\\302\\205\\tc"')).toBe('a␀b␁\ufffd\tc');
  });

  it('keeps the directory from call to call, as long as it is in the working directory; variables are not kept (A-25)', async () => {
    await mkdir(path.join(cwd, 'sub'));
    expect(await text('cd sub; X=1; false')).toBe('[exit code 1]');
    expect(await text('pwd; echo "$X."; cd /')).toBe(
      `${cwd}/sub\n.\n[the next command starts in the working directory again: / is outside of it]`,
    );
    expect(await text('pwd; cd sub; exec >/dev/null; exit 4')).toBe(`${cwd}\n[exit code 4]`);
    expect(await text('pwd; rm -r ../sub')).toContain(`${cwd}/sub`);
    expect(await text('pwd')).toBe(cwd);
  });

  it('has an environment without secrets, and a temporary directory that goes with the agent (A-25, A-32)', async () => {
    use(toolContext(cwd, { shell: { env: { PATH: process.env['PATH'], GREETING: 'hello' } } }));
    expect(await text('echo $GREETING; echo "$HOME."; touch $TMPDIR/x; ls $TMPDIR')).toBe('hello\n.\nx');
    const directory = await text('echo $TMPDIR');
    await context.session.close();
    await expect(readdir(directory)).rejects.toThrow('ENOENT');
  });

  it('shows both ends of a long output and a file with all of it, which Read may read (A-25)', async () => {
    const kept = path.join(tmpdir(), `wf-kept-${process.pid}.txt`);
    const report = new (class extends FakeReporter {
      async keepFile(_: string, whole: string): Promise<string> {
        await writeFile(kept, whole);
        return kept;
      }
    })();
    use(toolContext(cwd, { report }));
    const shown = await text('seq 1 20000');
    expect(shown.length).toBeLessThan(31_000);
    expect(shown).toMatch(/^1\n2\n[\s\S]*\[\d+ characters left out here; all of it is in .*wf-kept[\s\S]*\n20000$/);
    expect(await readFile(kept, 'utf8')).toBe(`${Array.from({ length: 20_000 }, (_, n) => n + 1).join('\n')}\n`);
    const read = await readTool.run({ file_path: kept, offset: 9_999, limit: 1 }, context);
    expect(read.text).toContain('9999\t9999');
    await expect(readTool.run({ file_path: '/etc/passwd' }, context)).rejects.toThrow('outside');
    await rm(kept);
  });

  it('bounds what it keeps of an endless output (A-25)', async () => {
    const shown = await text('head -c 40000000 /dev/zero | tr "\\0" x; echo; echo end');
    expect(shown).toMatch(/x\n?\[\d+ characters left out here\][\s\S]*end$/);
  });

  it.each([
    ['a\0b', /NUL/],
    ['x'.repeat(60_001), /longer than 60000 bytes\. Write it to a file/],
  ])('refuses %j, which no shell takes (A-25)', async (command, expected) => {
    expect(await bash(command)).toMatchObject({ isError: true, text: expect.stringMatching(expected) });
  });

  it('ends a command at its time limit with everything it started (A-25)', async () => {
    expect(await bash('sleep 60 & echo started; sleep 60', { timeout: 200 })).toMatchObject({
      text: 'started\n[ended after its time limit of 200 ms; give a longer timeout, or use run_in_background]',
      isError: true,
    });
    expect(await processesWith(marked)).toEqual([]);
  });

  it('ends with the agent what a command left, also what ignores SIGTERM, left its group or lost its environment (A-18)', async () => {
    expect(await text("trap '' TERM; sleep 60 & echo $!")).toMatch(/^\d+\n\[what it started in the background goes on/);
    await bash('setsid sleep 60 >/dev/null 2>&1 & (trap "" TERM HUP; exec nohup sleep 60) >/dev/null 2>&1 &');
    await bash("env -i setsid sh -c 'echo $$ >pid; exec sleep 60' >/dev/null 2>&1 &");
    await waitUntil(async () => (await processesWith(marked)).length === 3 && (await readdir(cwd)).includes('pid'));
    const began = performance.now();
    await context.session.close();
    expect(await processesWith(marked)).toEqual([]);
    expect(processLives(Number(await readFile(path.join(cwd, 'pid'), 'utf8')))).toBe(false);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it('dies at once when the agent is stopped (A-18)', async () => {
    const stop = new AbortController();
    use(toolContext(cwd, { signal: stop.signal }));
    const running = bash('touch began; sleep 60');
    await waitUntil(async () => (await readdir(cwd)).includes('began'));
    stop.abort(new Error('stopped'));
    await expect(running).rejects.toThrow();
    expect(await processesWith(marked)).toEqual([]);
  });
});

describe('a command in the background', () => {
  it('is read piece by piece, and tells how it ended (A-25)', async () => {
    expect(
      await bash('echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 5', { run_in_background: true }),
    ).toMatchObject({ text: expect.stringContaining('as bash_1'), isError: false });
    expect(await output({ id: 'bash_1', wait_ms: 5_000 })).toBe('one\n[bash_1: running]');
    expect(await output({ id: 'bash_1' })).toBe('[nothing new was printed]\n[bash_1: running]');
    await writeFile(path.join(cwd, 'go'), '');
    await waitUntil(async () => (await output({ id: 'bash_1', wait_ms: 5_000 })).includes('exit code 5'));
    expect(await output({ id: 'bash_2' })).toBe('There is no command bash_2 in the background: bash_1.');
  });

  it('is stopped when asked, at its time limit, and when the agent ends (A-18, A-25)', async () => {
    for (const more of [{}, { timeout: 100 }, {}]) await bash('sleep 60', { run_in_background: true, ...more });
    expect(await output({ id: 'bash_1', stop: true })).toBe('[nothing new was printed]\n[bash_1: ended by SIGTERM]');
    expect(await output({ id: 'bash_2', wait_ms: 5_000 })).toContain('[bash_2: ended by SIGTERM]');
    expect(await output({ id: 'bash_3' })).toContain('[bash_3: running]');
  });

  it('is one of at most sixteen (A-25)', async () => {
    for (let n = 0; n < 16; n += 1) await bash('sleep 60', { run_in_background: true });
    expect(await text('sleep 60', { run_in_background: true })).toContain('16 commands run in the background already');
  });
});
