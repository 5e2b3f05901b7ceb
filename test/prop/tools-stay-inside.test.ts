import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentTool } from '../../agents/tools/agent-tool.ts';
import { editTool } from '../../agents/tools/files/edit.ts';
import { globTool } from '../../agents/tools/files/glob.ts';
import { grepTool } from '../../agents/tools/files/grep.ts';
import { readTool } from '../../agents/tools/files/read.ts';
import { writeTool } from '../../agents/tools/files/write.ts';
import { isDirectoryInside } from '../../agents/tools/shell/start-shell.ts';
import { toolContext } from '../support/tool-context.ts';

const INPUTS = 10_000;
const AT_ONCE = 50;
const SECRET = 'outside-secret';

let root = '';
let cwd = '';
beforeAll(async () => {
  root = await realpath(await mkdtemp(path.join(tmpdir(), 'wf-fuzz-')));
  cwd = path.join(root, 'work');
  await mkdir(path.join(root, 'workshop'));
  await mkdir(path.join(root, 'other/deep'), { recursive: true });
  for (const name of ['secret.txt', 'workshop/a.txt', 'other/a.txt', 'other/deep/a.txt'])
    await writeFile(path.join(root, name), `${SECRET}\n`);
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** The working directory as it was, without what the inputs made: searches would take ever longer. */
async function renew(): Promise<void> {
  await rm(cwd, { recursive: true, force: true });
  await mkdir(path.join(cwd, 'src/deep'), { recursive: true });
  for (const name of ['a.txt', 'src/a.txt', 'src/deep/a.txt']) await writeFile(path.join(cwd, name), 'inside\n');
  await symlink(root, path.join(cwd, 'up'));
  await symlink('../other', path.join(cwd, 'src/over'));
  await symlink('../secret.txt', path.join(cwd, 'out'));
  await symlink('../made-by-a-write', path.join(cwd, 'dangling'));
  await symlink('../made-by-a-write/deep', path.join(cwd, 'src/dangling'));
  await symlink('loop', path.join(cwd, 'loop'));
  await symlink('/proc/self/cwd', path.join(cwd, 'proc'));
  await symlink('src', path.join(cwd, 'in'));
}

/** Every file outside the working directory with its text, and the times of every directory. */
async function outside(directory = root): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    if (file === cwd) continue;
    if (entry.isDirectory()) Object.assign(found, { [file]: `${(await stat(file)).mtimeMs}` }, await outside(file));
    else found[file] = `${await readFile(file, 'utf8')}${(await stat(file)).ctimeMs}`;
  }
  return found;
}

/** Links are not followed: some lead back up. */
async function namesBelow(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const below = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => namesBelow(path.join(directory, name)));
  return [...entries.map(({ name }) => name), ...(await Promise.all(below)).flat()];
}

/** Tries the paths of all inputs as directories that a command could begin in; gives how many it could. */
async function goodStarts(samples: readonly { readonly input: object }[]): Promise<number> {
  let good = 0;
  for (const { input } of samples) {
    const { file_path: place = '' } = input as { file_path?: string };
    const directory = path.resolve(cwd, place.replaceAll('\0', ''));
    if (!(await isDirectoryInside(cwd, directory))) continue;
    good += 1;
    expect(`${await realpath(directory)}/`.startsWith(`${cwd}/`), directory).toBe(true);
  }
  return good;
}

function inputs() {
  const names = [
    '.',
    '..',
    '...',
    '',
    'src',
    'deep',
    'a.txt',
    'new',
    'up',
    'over',
    'out',
    'dangling',
    'loop',
    'proc',
    'in',
  ];
  const tricks = [
    'work',
    'WORK',
    'Src',
    'workshop',
    'other',
    'secret.txt',
    '~',
    '%2e%2e',
    '..\\..',
    '. .',
    '..\0',
    '\u2025',
    '*',
    '-',
  ];
  const starts = [
    '',
    '',
    '',
    './',
    '../',
    '/',
    '//',
    '~/',
    'file://',
    `${cwd}/`,
    `${root}/`,
    `${cwd}/../`,
    '/proc/self/cwd/',
    `/proc/self/root${root}/`,
    `${cwd.toUpperCase()}/`,
    `${root}/workshop/`,
  ];
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...names) },
    { weight: 2, arbitrary: fc.constantFrom(...tricks) },
    { weight: 1, arbitrary: fc.string({ maxLength: 4 }) },
  );
  const place = fc
    .tuple(fc.constantFrom(...starts), fc.array(piece, { minLength: 1, maxLength: 6 }))
    .map(([start, pieces]) => start + pieces.join('/'));
  const words = fc.constantFrom('inside', 'i', '\n', SECRET, '', 'inside\n');
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ tool: fc.constant(readTool), input: fc.record({ file_path: place }) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        tool: fc.constant(globTool),
        input: fc.record({ pattern: fc.oneof(place, fc.constant('**/*')), path: place }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        tool: fc.constant(grepTool),
        input: fc.record({ pattern: words, path: place, limit: fc.constant(50) }),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        tool: fc.constant(writeTool),
        input: fc.record({ file_path: place, content: fc.string({ maxLength: 8 }) }),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        tool: fc.constant(editTool),
        input: fc.record({
          file_path: place,
          old_string: words,
          new_string: fc.string({ maxLength: 8 }),
          replace_all: fc.boolean(),
        }),
      }),
    },
  );
}

describe('tools that read and change files', () => {
  it(`stay inside the working directory for ${INPUTS} fuzzed inputs (A-29)`, async () => {
    const seed = Date.now() % 2 ** 31;
    console.log(`tools-stay-inside: seed ${seed}`);
    await renew();
    const before = await outside();
    const context = toolContext(cwd);
    const samples = fc.sample(inputs() as fc.Arbitrary<{ tool: AgentTool; input: object }>, { numRuns: INPUTS, seed });
    let done = 0;
    for (let at = 0; at < samples.length; at += AT_ONCE) {
      if (at % 500 === 0) await renew();
      await Promise.all(
        samples.slice(at, at + AT_ONCE).map(async ({ tool, input }) => {
          const output = await tool
            .run(input, context)
            .catch((error: Error) => ({ text: error.message, isError: true }));
          if (!output.isError) done += 1;
          // What a model asks for may stand in an answer; what only a file outside holds may not.
          const told = output.text.replaceAll(/matches .*|Nothing .*/g, '');
          if (told.includes(`${SECRET}\n`) || /\t.*outside-secret/.test(told))
            expect.unreachable(`seed ${seed}: ${tool.name} ${JSON.stringify(input)} gave ${output.text}`);
        }),
      );
    }
    expect(await outside(), `seed ${seed}`).toEqual(before);
    await renew();
    expect(await goodStarts(samples), `seed ${seed}`).toBeGreaterThan(20);
    expect((await namesBelow(cwd)).filter((name) => name.includes('.wf-write-'))).toEqual([]);
    expect(done, 'the inputs must not all be refused').toBeGreaterThan(INPUTS / 20);
  }, 120_000);
});
