import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readArgs } from '../../../../cli/flags/read-args.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'wf-args-'));
  writeFileSync(join(cwd, 'good.json'), '\uFEFF{"a":1}');
  writeFileSync(join(cwd, 'bad.json'), '{"a":');
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('readArgs', () => {
  it('gives the JSON text as it was typed (C-1)', async () => {
    expect(await readArgs({ args: '{"b":1.0,"a":"é"}' }, cwd)).toBe('{"b":1.0,"a":"é"}');
    expect(await readArgs({ args: '"[1]"' }, cwd)).toBe('"[1]"');
    expect(await readArgs({ args: '@good.json' }, cwd)).toBe('{"a":1}');
  });

  it('no args are undefined, null is a value (S-16)', async () => {
    expect(await readArgs({}, cwd)).toBeUndefined();
    expect(await readArgs({ args: 'null' }, cwd)).toBe('null');
  });

  it('--arg takes JSON, else text; the last of a name counts (C-1)', async () => {
    const text = await readArgs({ arg: ['n=1', 'list=[1]', 'word=tea=green', 'empty=', '__proto__=2', 'n=3'] }, cwd);
    expect(text).toBe('{"n":3,"list":[1],"word":"tea=green","empty":"","__proto__":2}');
  });

  it.each([
    [{ args: '{oops' }, 'USAGE_INVALID', /--args is not JSON.*position/],
    [{ args: '' }, 'USAGE_INVALID', /--args is not JSON/],
    [{ args: '@bad.json' }, 'USAGE_INVALID', /@bad\.json is not JSON/],
    [{ args: '@none.json' }, 'FILE_MISSING', /none\.json does not exist/],
    [{ args: '{}', arg: ['a=1'] }, 'USAGE_INVALID', /both/],
    [{ arg: ['a'] }, 'USAGE_INVALID', /key=value/],
  ])('%j is refused with %s (C-1)', async (flags, code, message) => {
    await expect(readArgs(flags, cwd)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});
