import { chmod, link, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentTool, ToolContext } from '../../../../../agents/tools/agent-tool.ts';
import { editTool } from '../../../../../agents/tools/files/edit.ts';
import { readTool } from '../../../../../agents/tools/files/read.ts';
import { replaceFile } from '../../../../../agents/tools/files/replace-file.ts';
import { fileStamp } from '../../../../../agents/tools/files/text-file.ts';
import { writeTool } from '../../../../../agents/tools/files/write.ts';
import { toolContext } from '../../../../support/tool-context.ts';

let root = '';
let cwd = '';
let context: ToolContext;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'wf-edit-'));
  cwd = path.join(root, 'work');
  await mkdir(cwd);
  context = toolContext(cwd);
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** What the model reads, errors thrown by the tool included. */
function output(tool: AgentTool, input: unknown): Promise<string> {
  return tool.run(input, context).then(
    ({ text, isError }) => (isError ? `error: ${text}` : text),
    (error: Error) => `error: ${error.message}`,
  );
}

const edit = (file_path: string, old_string: string, new_string: string, more = {}) =>
  output(editTool, { file_path, old_string, new_string, ...more });
const write = (file_path: string, content: string) => output(writeTool, { file_path, content });
const textOf = (name: string) => readFile(path.join(cwd, name), 'utf8');
const put = (name: string, text: string | Buffer) => writeFile(path.join(cwd, name), text);

describe('Edit', () => {
  it('replaces the one place and shows it with line numbers (A-25)', async () => {
    await put('a.txt', 'one\ntwo\nthree\nfour\nfive\nsix\n');
    expect(await edit('a.txt', 'three', '3')).toBe(
      'a.txt: 1 replacement, at line 3.\n1\tone\n2\ttwo\n3\t3\n4\tfour\n5\tfive\n6\tsix',
    );
    expect(await textOf('a.txt')).toBe('one\ntwo\n3\nfour\nfive\nsix\n');
  });

  it('changes nothing when the text stands there more than once, and names the lines; replace_all takes all (A-25)', async () => {
    await put('a.txt', 'x\ny\nx\n$& x');
    expect(await edit('a.txt', 'x', '$&')).toMatch(/^error: a\.txt: .* 3 times, at lines 1, 3, 4\. .*replace_all/);
    expect(await textOf('a.txt')).toBe('x\ny\nx\n$& x');
    expect(await edit('a.txt', 'x', '$&', { replace_all: true })).toBe('a.txt: 3 replacements, at lines 1, 3, 4.');
    expect(await textOf('a.txt')).toBe('$&\ny\n$&\n$& $&');
  });

  it.each([
    [
      'line ends of the file are kept when the model writes LF',
      'a\r\nb\r\nc\r\n',
      'a\nb',
      'A\nB\n!',
      'A\r\nB\r\n!\r\nc\r\n',
    ],
    ['a single line of such a file gets its line ends too', 'a\r\nb\r\n', 'b', 'b1\nb2', 'a\r\nb1\r\nb2\r\n'],
    ['CRLF from the model is LF in a file of LF', 'a\nb\n', 'a\r\nb', 'A\r\nB', 'A\nB\n'],
    ['mixed line ends stay as they are', 'a\r\nb\nc', 'b\nc', 'B\nC', 'a\r\nB\nC'],
    ['a last line needs no line end', 'a\nlast', 'last\n', 'end\n', 'a\nend'],
    ['a byte order mark stays', '\uFEFFa\nb', 'a', 'A', '\uFEFFA\nb'],
  ])('%s (A-25)', async (_, before, oldText, newText, after) => {
    await put('a.txt', before);
    expect(await edit('a.txt', oldText, newText)).toContain('1 replacement');
    expect(await textOf('a.txt')).toBe(after);
  });

  it.each([
    ['a.txt', 'nothing like it', /does not stand in the file\. Read the file again/],
    ['a.txt', '\t\tif (a)  {\nreturn;', /other white space is at line 2: copy it exactly\.\n {2}if \(a\) \{/],
    ['a.txt', '2\t  if (a) {', /begin with the numbers that Read puts/],
    ['a.txt', 'begin\nelse', /first line is at line 1, but what follows/],
    ['a.txt', 'begin', /are the same/],
    ['none.txt', 'x', /none\.txt does not exist\. To make it, use Write/],
    ['a.txt', '', /is not empty/],
    ['.', 'x', /is a directory/],
    ['image.bin', 'x', /binary file of 3 bytes/],
    ['latin1.txt', 'x', /not in UTF-8/],
    ['locked.txt', 'x', /read-only/],
    ['../outside.txt', 'x', /outside the working directory/],
    ['a.txt/b', 'x', /does not exist|file where a directory/],
    ['dangling', '', /link to nothing/],
    ['out', 'SECRET', /outside the working directory/],
  ])('says what is wrong with %s and "%s" (A-25)', async (file, oldText, expected) => {
    await put('a.txt', 'begin\n  if (a) {\n    return;\n');
    await put('image.bin', Buffer.from([1, 0, 2]));
    await put('latin1.txt', Buffer.from([0x61, 0xe9, 0x0a]));
    await put('locked.txt', 'x');
    await chmod(path.join(cwd, 'locked.txt'), 0o444);
    await writeFile(path.join(root, 'outside.txt'), 'SECRET');
    await symlink(path.join(root, 'outside.txt'), path.join(cwd, 'out'));
    await symlink(path.join(root, 'nowhere.txt'), path.join(cwd, 'dangling'));
    expect(await edit(file, oldText, 'begin')).toMatch(expected);
    expect(await readFile(path.join(root, 'outside.txt'), 'utf8')).toBe('SECRET');
    expect(await readdir(root)).toEqual(['outside.txt', 'work']);
  });

  it('keeps mode and links, and leaves the other name of a hard link alone (A-29)', async () => {
    await put('run.sh', 'old\n');
    await chmod(path.join(cwd, 'run.sh'), 0o4755);
    await symlink('run.sh', path.join(cwd, 'alias.sh'));
    await link(path.join(cwd, 'run.sh'), path.join(root, 'outside.sh'));
    expect(await edit('alias.sh', 'old', 'new')).toContain('run.sh: 1 replacement');
    expect(await textOf('run.sh')).toBe('new\n');
    expect((await stat(path.join(cwd, 'run.sh'))).mode & 0o7777).toBe(0o4755);
    expect((await lstat(path.join(cwd, 'alias.sh'))).isSymbolicLink()).toBe(true);
    expect(await readFile(path.join(root, 'outside.sh'), 'utf8')).toBe('old\n');
  });

  it('does not replace what somebody else changed or made while the text was worked out (A-25)', async () => {
    await put('a.txt', 'old');
    const file = path.join(cwd, 'a.txt');
    const { signal } = new AbortController();
    const known = await fileStamp(file);
    await put('a.txt', 'theirs');
    await expect(replaceFile(file, 'ours', known, signal)).rejects.toThrow('changed meanwhile by somebody else');
    await expect(replaceFile(file, 'ours', undefined, signal)).rejects.toThrow('changed meanwhile by somebody else');
    expect(await textOf('a.txt')).toBe('theirs');
    expect(await readdir(cwd)).toEqual(['a.txt']);
  });

  it('loses none of fifty edits of one file at once, through a link too (A-25)', async () => {
    await put('a.txt', Array.from({ length: 50 }, (_, n) => `line ${n}.`).join('\n'));
    await symlink('a.txt', path.join(cwd, 'b.txt'));
    const edits = Array.from({ length: 50 }, (_, n) => edit(n % 2 ? 'a.txt' : 'b.txt', `line ${n}.`, `LINE ${n}.`));
    expect((await Promise.all(edits)).filter((text) => text.startsWith('error'))).toEqual([]);
    expect(await textOf('a.txt')).toBe(Array.from({ length: 50 }, (_, n) => `LINE ${n}.`).join('\n'));
  });
});

describe('Write', () => {
  it('makes a file with its directories and says how long it is (A-25)', async () => {
    expect(await write('src/deep/a.ts', 'one\ntwo\n')).toBe('src/deep/a.ts made: 2 lines, 8 bytes.');
    expect(await write(path.join(cwd, 'empty'), '')).toBe('empty made: 0 lines, 0 bytes.');
    expect(await textOf('src/deep/a.ts')).toBe('one\ntwo\n');
    expect(await readdir(path.join(cwd, 'src/deep'))).toEqual(['a.ts']);
  });

  it('replaces only what the agent has seen as it is now (A-25)', async () => {
    await put('a.txt', 'theirs');
    expect(await write('a.txt', 'mine')).toMatch(/^error: a\.txt exists\. Read it before/);
    await output(readTool, { file_path: 'a.txt' });
    await put('a.txt', 'theirs again');
    expect(await write('a.txt', 'mine')).toMatch(/^error: a\.txt has changed since/);
    expect(await textOf('a.txt')).toBe('theirs again');
    await output(readTool, { file_path: 'a.txt' });
    expect(await write('a.txt', 'mine')).toBe('a.txt replaced: 1 line, 4 bytes.');
    expect(await write('a.txt', 'mine, later')).toContain('replaced');
    expect(await edit('a.txt', 'later', 'at last')).toContain('1 replacement');
    expect(await write('a.txt', 'the end')).toContain('replaced');
  });

  it.each([
    ['../x', /outside/],
    ['/etc/wf-test', /outside/],
    ['/proc/self/cwd/x', /outside/],
    ['up/x', /outside/],
    ['up/work/../x', /outside|made/],
    ['a\0b', /NUL/],
    ['loop/x', /cannot be opened \(ELOOP\)/],
    ['x'.repeat(300), /longer than this system allows/],
    ['pipe', /no regular file|outside/],
  ])('goes nowhere else than the working directory with %j (A-29)', async (file, expected) => {
    await symlink(root, path.join(cwd, 'up'));
    await symlink('loop', path.join(cwd, 'loop'));
    await symlink('/dev/null', path.join(cwd, 'pipe'));
    expect(await write(file, 'x')).toMatch(expected);
    expect(await readdir(root)).toEqual(['work']);
  });
});
