import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../../cli/run-cli.ts';
import { fakeContext } from '../fake-context.ts';

const SCRIPT = "export const meta = { name: 'greet', description: 'Greets' }\nreturn agent('GREET')\n";
const ANSWERS = {
  rules: [{ match: 'Write a workflow script', reply: [{ text: SCRIPT }] }],
  default: [{ text: 'hello' }],
};

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wf-new-'));
  writeFileSync(join(root, 'r.json'), JSON.stringify(ANSWERS));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** At a terminal where a person types one line. */
async function atTerminal(line: string, ...argv: string[]) {
  const stdin = Object.assign(Readable.from([`${line}\n`]), { isTTY: true });
  const screen = new PassThrough();
  let shown = '';
  screen.on('data', (piece: Buffer) => {
    shown += piece.toString();
  });
  const plain = fakeContext();
  const stderr = {
    ...plain.stderr,
    write: (text: string) => void screen.write(text),
    isTerminal: true,
    stream: screen,
  };
  const context = fakeContext({ argv, cwd: root, homeDirectory: root, stdin, stderr });
  const exit = await runCli(context);
  return { exit, stdout: context.printed.stdout, shown };
}

const runs = (): readonly string[] => {
  try {
    return readdirSync(join(root, '.wf/runs'));
  } catch {
    return [];
  }
};

describe('wf new at a terminal', () => {
  it('shows the script, asks, and runs it after a yes (C-4)', async () => {
    const { exit, stdout, shown } = await atTerminal('y', 'new', 'greet', '--responses', 'r.json');
    expect([exit, stdout]).toEqual([0, 'hello\n']);
    expect(shown).toContain(SCRIPT);
    expect(shown).toMatch(/about 1 agent.*Run it\? \[y\/N\]/s);
    expect(runs()).toHaveLength(1);
  });

  it('runs nothing after a no, and says how to keep the script (C-4)', async () => {
    const { exit, stdout, shown } = await atTerminal('', 'new', 'greet', '--responses', 'r.json');
    expect([exit, stdout]).toEqual([0, '']);
    expect(shown).toMatch(/not run\. To keep it give --save NAME/);
    expect(runs()).toEqual([]);
  });
});
