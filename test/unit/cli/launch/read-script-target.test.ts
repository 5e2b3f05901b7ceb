import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readScriptTarget } from '../../../../cli/launch/read-script-target.ts';

let root: string;
let place: { cwd: string; homeDirectory: string; stdin: Readable };

function put(name: string, content: string | Uint8Array = name): string {
  const file = join(root, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wf-find-'));
  mkdirSync(join(root, 'project/deep'), { recursive: true });
  mkdirSync(join(root, 'home'));
  place = { cwd: join(root, 'project/deep'), homeDirectory: join(root, 'home'), stdin: Readable.from([]) };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('the script that was named', () => {
  it('a file is read with its name and path (C-1)', async () => {
    const path = put('project/deep/a.js', 'text');
    expect(await readScriptTarget('a.js', place)).toEqual({ text: 'text', fileName: 'a.js', path, byName: false });
    expect(await readScriptTarget('../deep/a.js', place)).toMatchObject({ path });
  });

  it('- is stdin (C-1)', async () => {
    const stdin = Readable.from([Buffer.from('const a = "é'), Buffer.from('"')]);
    expect(await readScriptTarget('-', { ...place, stdin })).toEqual({
      text: 'const a = "é"',
      fileName: 'stdin',
      byName: false,
    });
  });

  it.each([
    ['none.js', 'FILE_MISSING', /none\.js.*does not exist/],
    ['./folder', 'FILE_UNREADABLE', /folder is a directory/],
    ['folder', 'WORKFLOW_UNKNOWN', /folder is a directory/],
    ['binary.js', 'FILE_UNREADABLE', /not UTF-8/],
    ['latin1.js', 'FILE_UNREADABLE', /not UTF-8/],
    ['huge.js', 'SCRIPT_TOO_LARGE', /524,288/],
    ['flow.json', 'USAGE_UNSUPPORTED', /graph/],
    ['  ', 'USAGE_INVALID', /empty/],
  ])('%j is one clear sentence with %s (C-10)', async (target, code, message) => {
    mkdirSync(join(place.cwd, 'folder'));
    put('project/deep/binary.js', new Uint8Array([127, 69, 0, 255]));
    put('project/deep/latin1.js', new Uint8Array([0x63, 0xe9]));
    put('project/deep/huge.js', 'x'.repeat(1_600_000));
    await expect(readScriptTarget(target, place)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });
});
