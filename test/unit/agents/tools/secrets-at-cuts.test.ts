import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentProcess } from '../../../../agents/process/agent-process.ts';
import { startGuardian } from '../../../../agents/process/group-guardian.ts';
import type { AgentTool, ToolContext } from '../../../../agents/tools/agent-tool.ts';
import { editTool } from '../../../../agents/tools/files/edit.ts';
import { grepTool } from '../../../../agents/tools/files/grep.ts';
import { readTool } from '../../../../agents/tools/files/read.ts';
import { bashTool } from '../../../../agents/tools/shell/bash.ts';
import { bashOutputTool } from '../../../../agents/tools/shell/bash-output.ts';
import { OutputBuffer } from '../../../../agents/tools/shell/output-buffer.ts';
import { wallClock } from '../../../../agents/wall-clock.ts';
import { createRedactor } from '../../../../runtime/redact.ts';
import { FakeReporter } from '../../../support/fake-reporter.ts';
import { toolContext } from '../../../support/tool-context.ts';
import { waitUntil } from '../../../support/wait-until.ts';

const EXACT = 'correct horse battery staple of nobody';
const SHAPED = `ghp_${'Zq9wXe7rT5yU3iO1pA8s'.repeat(2)}`;
const KEY_LINES = Array.from({ length: 12 }, (_, n) => `MIIEvQIBADANBgkqhkiG9w0BAQEFAASC${String(n).padStart(2, '0')}`);
const KEY = ['-----BEGIN RSA PRIVATE KEY-----', ...KEY_LINES, '-----END RSA PRIVATE KEY-----'].join('\n');
const redactor = createRedactor([EXACT]);

let cwd = '';
let context: ToolContext;
let kept: string[];
beforeEach(async () => {
  cwd = await realpath(await mkdtemp(path.join(tmpdir(), 'wf-cuts-')));
  kept = [];
  const report = new (class extends FakeReporter {
    async keepFile(_: string, whole: string): Promise<string> {
      kept.push(redactor.text(whole));
      return path.join(cwd, 'kept');
    }
  })({ redactor });
  await writeFile(path.join(cwd, 'kept'), '');
  context = toolContext(cwd, { report });
});
afterEach(async () => {
  await context.session.close();
  await rm(cwd, { recursive: true, force: true });
});

/** The pieces of eight characters of the secrets that are left of a text when it is written down. */
function left(text: string): readonly string[] {
  const clean = redactor.text(text);
  return [EXACT, SHAPED, ...KEY_LINES].flatMap((secret) =>
    Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8)).filter((piece) =>
      clean.includes(piece),
    ),
  );
}

async function told(tool: AgentTool, input: object): Promise<string> {
  return (await tool.run(input, context)).text;
}

/** Runs a case with the cut before, at the first character of, in the midst of, and behind a secret. */
async function atEveryPlace(cutAt: number, work: (secretAt: number) => Promise<string>): Promise<void> {
  for (const into of [0, 1, 6, 12, 25, 37, 43])
    expect(left(await work(cutAt - into)), `${into} characters in`).toEqual([]);
}

const SECRETS = [
  ['an exact value', EXACT],
  ['a key of a known form', SHAPED],
] as const;

describe.each(SECRETS)('%s that a tool cuts', (_, secret) => {
  const line = (at: number, length: number): string => `${'x'.repeat(at - 1)} ${secret} ${'y'.repeat(length - at)}`;

  it('is left out by Read of a long line (A-32)', () =>
    atEveryPlace(2_000, async (at) => {
      await writeFile(path.join(cwd, 'a.txt'), line(at, 4_000));
      const text = await told(readTool, { file_path: 'a.txt' });
      expect(text).toContain('[line cut, ');
      return text;
    }));

  it('is left out by Grep of a long line (A-32)', () =>
    atEveryPlace(500, async (at) => {
      await writeFile(path.join(cwd, 'a.txt'), line(at, 4_000));
      const text = await told(grepTool, { pattern: 'xx+ \\S' });
      expect(text).toMatch(/^a\.txt:1:x+ /);
      return text;
    }));

  it('is left out by what Edit shows around a change, and of a text that was probably meant (A-32)', () =>
    atEveryPlace(500, async (at) => {
      await writeFile(path.join(cwd, 'a.txt'), `${line(at, 4_000)}\nold\n${line(at + 100, 4_000)}  z\n`);
      const near = await told(editTool, {
        file_path: 'a.txt',
        old_string: `${line(at + 100, 4_000)} z`,
        new_string: '',
      });
      expect(near).toContain('other white space');
      return near + (await told(editTool, { file_path: 'a.txt', old_string: 'old', new_string: 'new' }));
    }));

  it('is left out at both ends of what Bash shows, and is not in the file with all of it (A-32)', async () => {
    await atEveryPlace(15_000, async (at) => {
      const lastEnd = ` ${secret} ${'y'.repeat(30_000 - at - secret.length - 1)}`;
      await writeFile(path.join(cwd, 'a.txt'), line(at, 30_000) + lastEnd);
      const text = await told(bashTool, { command: 'cat a.txt' });
      expect(text).toContain('characters left out here; all of it is in');
      return text;
    });
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.flatMap(left)).toEqual([]);
  });

  it('is found in what Bash prints in colours, in the file too (A-32)', async () => {
    const half = secret.length / 2;
    const command = `printf '%s\\033[31m%s\\033[0m\\n' '${secret.slice(0, half)}' '${secret.slice(half)}'; seq 1 9000`;
    expect(left(await told(bashTool, { command }))).toEqual([]);
    expect(kept.flatMap(left)).toEqual([]);
    expect(kept.join('')).toContain('[REDACTED]');
  });

  it('is held back by BashOutput until it is whole (A-32)', async () => {
    const half = secret.slice(0, secret.length / 2);
    await writeFile(path.join(cwd, 'half'), `ready ${half}`);
    await writeFile(path.join(cwd, 'rest'), `${secret.slice(half.length)} done`);
    const command = 'cat half; until [ -e go ]; do sleep 0.02; done; cat rest; until [ -e end ]; do sleep 0.02; done';
    await told(bashTool, { command, run_in_background: true });
    const first = await told(bashOutputTool, { id: 'bash_1', wait_ms: 5_000 });
    expect(first).toBe('ready\n[bash_1: running]');
    expect(await told(bashOutputTool, { id: 'bash_1' })).toBe('[nothing new was printed]\n[bash_1: running]');
    await writeFile(path.join(cwd, 'go'), '');
    const second = await told(bashOutputTool, { id: 'bash_1', wait_ms: 5_000 });
    expect([left(first), left(second)]).toEqual([[], []]);
    await writeFile(path.join(cwd, 'end'), '');
    await waitUntil(async () => (await told(bashOutputTool, { id: 'bash_1', wait_ms: 5_000 })).includes('exit code 0'));
  });

  it('is left out of the last words of an agent CLI (A-26, A-32)', async () => {
    const guardian = startGuardian(process.env['PATH']);
    for (const into of [1, 8, 20, 37]) {
      await writeFile(path.join(cwd, 'said'), `start ${secret} ${'y'.repeat(2_000 - secret.length - 1 + into)}`);
      const cli = new AgentProcess({
        program: '/bin/sh',
        args: ['-c', 'cat said >&2; exit 3'],
        cwd,
        env: { PATH: process.env['PATH'] ?? '' },
        guardian,
        clock: wallClock,
        cuts: redactor,
        onSign: () => {},
      });
      const { lastWords } = await cli.ended;
      expect(lastWords).toMatch(/yyy$/);
      expect(left(lastWords), `${into} characters in`).toEqual([]);
    }
    guardian.close();
  });

  it('is left out where an output is dropped that is too long to keep (A-32)', () => {
    const MIB4 = 4 * 1024 * 1024;
    for (const into of [0, 1, 8, 20, 37, 43]) {
      const buffer = new OutputBuffer();
      const front = `${'x'.repeat(MIB4 - into - 1)} ${secret} `;
      const back = ` ${secret} ${'y'.repeat(MIB4 - secret.length + into - 1)}`;
      const all = front + 'm'.repeat(MIB4) + back;
      for (let at = 0; at < all.length; at += 999_983) buffer.add(Buffer.from(all.slice(at, at + 999_983)));
      const text = buffer.text(0, redactor);
      expect(text).toMatch(/\[\d+ characters are missing here\]/);
      expect(left(text.slice(MIB4 - 200, -MIB4 + 400)), `${into} characters in`).toEqual([]);
    }
  });
});

describe('a part of a private key', () => {
  it('that begins behind its first line is not shown by Read, Grep and Edit (A-32)', async () => {
    await writeFile(path.join(cwd, 'a.pem'), `before\n${KEY}\nafter\n`);
    expect(await told(readTool, { file_path: 'a.pem', offset: 5, limit: 30 })).toMatch(
      /^5\t\[REDACTED\]\n(?:\d+\t\[REDACTED\]\n)+16\tafter$/,
    );
    expect(await told(readTool, { file_path: 'a.pem', offset: 2, limit: 2 })).toContain(KEY_LINES[0]);
    expect(await told(grepTool, { pattern: 'MIIE' })).toMatch(/^(?:a\.pem:\d+:\[REDACTED\]\n?){12}$/);
    expect(left(await told(editTool, { file_path: 'a.pem', old_string: 'after', new_string: 'then' }))).toEqual([]);
  });
});

describe('a secret of several lines', () => {
  it('is one in each of its long lines (A-32)', () => {
    const { text } = createRedactor([`${KEY_LINES[0]}\n${KEY_LINES[1]}\nend`]);
    expect(text(`1\t${KEY_LINES[1]}\n2\tend`)).toBe('1\t[REDACTED]\n2\tend');
  });
});
