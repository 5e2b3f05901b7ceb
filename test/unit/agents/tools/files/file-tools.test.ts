import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { globTool } from '../../../../../agents/tools/files/glob.ts';
import { grepTool } from '../../../../../agents/tools/files/grep.ts';
import { readTool } from '../../../../../agents/tools/files/read.ts';
import { toolContext } from '../../../../support/tool-context.ts';

let root = '';
let cwd = '';
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'wf-tools-'));
  cwd = path.join(root, 'work');
  await mkdir(path.join(cwd, 'src/deep'), { recursive: true });
  await mkdir(path.join(cwd, 'node_modules/x'), { recursive: true });
  await writeFile(path.join(root, 'outside.txt'), 'SECRET');
  await writeFile(path.join(cwd, 'a.txt'), 'one\ntwo needle\nthree\n');
  await writeFile(path.join(cwd, 'src/b.ts'), 'const needle = 1;\r\nconst Needle = 2;\r\n');
  await writeFile(path.join(cwd, 'src/deep/c.ts'), 'nothing here');
  await writeFile(path.join(cwd, 'node_modules/x/d.ts'), 'needle');
  await writeFile(path.join(cwd, 'empty'), '');
  await writeFile(path.join(cwd, 'image.bin'), Buffer.from([1, 0, 2]));
  await writeFile(path.join(cwd, 'long.txt'), `${'x'.repeat(5_000)}\n${'line\n'.repeat(3_000)}`);
  await symlink(path.join(root, 'outside.txt'), path.join(cwd, 'link.txt'));
  await symlink(path.join(cwd, 'a.txt'), path.join(cwd, 'inner.txt'));
  await symlink(root, path.join(cwd, 'up'));
});
afterAll(() => rm(root, { recursive: true }));

/** What the model reads, errors thrown by the tool included. */
async function output(tool: typeof readTool, input: unknown): Promise<string> {
  return tool.run(input, toolContext(cwd)).then(
    ({ text, isError }) => (isError ? `error: ${text}` : text),
    (error: Error) => `error: ${error.message}`,
  );
}

describe('Read', () => {
  it('numbers the lines, and reads a part when asked', async () => {
    expect(await output(readTool, { file_path: 'a.txt' })).toBe('1\tone\n2\ttwo needle\n3\tthree');
    expect(await output(readTool, { file_path: path.join(cwd, 'a.txt'), offset: 2, limit: 1 })).toBe(
      '2\ttwo needle\n[there is more; read on with offset 3]',
    );
    expect(await output(readTool, { file_path: 'inner.txt', offset: 9 })).toContain('past its end');
  });

  it.each(['../outside.txt', 'link.txt', 'up/outside.txt', '/etc/passwd', 'src/../../outside.txt'])(
    'refuses %s, which lies outside the working directory',
    async (file) => {
      expect(await output(readTool, { file_path: file })).toMatch(/^error: .*outside the working directory/);
    },
  );

  it('says what is no text: a directory, a binary or empty file, nothing, a wrong input', async () => {
    expect(await output(readTool, { file_path: 'src' })).toContain('is a directory');
    expect(await output(readTool, { file_path: 'image.bin' })).toContain('binary file of 3 bytes');
    expect(await output(readTool, { file_path: 'empty' })).toBe('[empty is empty]');
    expect(await output(readTool, { file_path: 'gone' })).toBe('error: gone does not exist.');
    expect(await output(readTool, { file_path: 'a\0b' })).toContain('NUL');
    expect(await output(readTool, { path: 'a.txt' })).toMatch(/^error: Read: .*file_path/s);
  });

  it('bounds what it gives and says so', async () => {
    const text = await output(readTool, { file_path: 'long.txt' });
    expect(text.split('\n')).toHaveLength(2_001);
    expect(text).toContain('[line cut, 5000 characters]');
    expect(text).toContain('[there is more; read on with offset 2001]');
  });
});

describe('Glob', () => {
  it('lists what matches, without links and foreign directories', async () => {
    expect(await output(globTool, { pattern: '**/*.ts' })).toBe('src/b.ts\nsrc/deep/c.ts');
    expect(await output(globTool, { pattern: '*.ts', path: 'src' })).toBe('src/b.ts');
    expect(await output(globTool, { pattern: '*.{txt,bin}' })).toBe('a.txt\nimage.bin\nlong.txt');
    expect(await output(globTool, { pattern: '[!b-z].tx?' })).toBe('a.txt');
    expect(await output(globTool, { pattern: 'none' })).toBe('No file matches none.');
  });

  it('refuses to search outside, and tells what is wrong with a pattern', async () => {
    expect(await output(globTool, { pattern: '*', path: '..' })).toContain('outside the working directory');
    expect(await output(globTool, { pattern: '*', path: 'up' })).toContain('outside the working directory');
    expect(await output(globTool, { pattern: '{a' })).toContain('without its }');
    expect(await output(globTool, { pattern: '[a' })).toContain('without its ]');
    expect(await output(globTool, { pattern: '../*.txt' })).toBe('No file matches ../*.txt.');
  });
});

describe('Grep', () => {
  it('gives file, line and text of each match', async () => {
    expect(await output(grepTool, { pattern: 'needle' })).toBe('a.txt:2:two needle\nsrc/b.ts:1:const needle = 1;');
    expect(await output(grepTool, { pattern: 'needle', ignore_case: true, mode: 'files' })).toBe('a.txt\nsrc/b.ts');
    expect(await output(grepTool, { pattern: 'needle', glob: 'src/**' })).toBe('src/b.ts:1:const needle = 1;');
    expect(await output(grepTool, { pattern: '^three$', path: 'a.txt' })).toBe('a.txt:3:three');
    expect(await output(grepTool, { pattern: 'SECRET' })).toBe('Nothing matches SECRET.');
  });

  it('stops at its limit and says so', async () => {
    const text = await output(grepTool, { pattern: 'e', limit: 1 });
    expect(text.split('\n')).toEqual(['a.txt:1:one', expect.stringContaining('there may be more')]);
  });

  it('says which files were too large to be searched, and does not wait for a pipe', async () => {
    const place = await mkdtemp(path.join(root, 'odd-'));
    execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', path.join(place, 'pipe')]);
    for (const name of ['big', 'big2']) {
      await writeFile(path.join(place, name), 'needle');
      await truncate(path.join(place, name), 4 * 1024 * 1024 + 1);
    }
    const search = (input: object) => grepTool.run(input, toolContext(place)).then(({ text }) => text);
    expect(await search({ pattern: 'needle' })).toBe(
      'Nothing matches needle.\n[not searched, since larger than 4194304 bytes: big and 1 more]',
    );
    expect(await search({ pattern: 'needle', path: 'big2' })).toMatch(/bytes: big2\]$/);
    expect(await search({ pattern: 'needle', path: 'pipe' })).toBe('Nothing matches needle.');
    await expect(readTool.run({ file_path: 'pipe' }, toolContext(place))).resolves.toMatchObject({
      text: 'pipe is no regular file.',
    });
  });

  it('is not held up by a pattern that a backtracking engine would choke on', async () => {
    await writeFile(path.join(cwd, 'evil.txt'), `${'a'.repeat(5_000)}!`);
    expect(await output(grepTool, { pattern: '(a+)+$', path: 'evil.txt' })).toBe('Nothing matches (a+)+$.');
  });

  it('tells what is wrong with a pattern', async () => {
    expect(await output(grepTool, { pattern: '(' })).toMatch(/^error: .*\(/);
    expect(await output(grepTool, { pattern: 'a(?=b)' })).toMatch(/^error: /);
  });
});
