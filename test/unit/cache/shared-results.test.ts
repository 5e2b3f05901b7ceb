import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createSharedResults } from '../../../cache/shared-results.ts';
import { clearSharedResults, listSharedResults, verifySharedResults } from '../../../cache/shared-results-upkeep.ts';
import { temporaryDirectories } from './temporary-directory.ts';

const about = { key: `v1:${'0'.repeat(64)}`, backend: 'anthropic', model: 'haiku' };
const answer = { valueJson: '{"b":1,"2":"two","a":"Grüße 😀"}', attempts: 2 };
const temporaryDirectory = temporaryDirectories();

/** Files below a part of the store. */
function filesIn(root: string, part: 'content' | 'index'): string[] {
  const folder = join(root, 'shared-results', part === 'content' ? 'content-v2' : 'index-v5');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe('shared results', () => {
  it('gives back the text that was put, order of members included, to another run too (R-19, R-26)', async () => {
    const root = temporaryDirectory();
    await createSharedResults({ root }).put('one', answer, about);
    const other = createSharedResults({ root });
    expect(await other.get('one')).toEqual(answer);
    expect(await other.get('two')).toBeUndefined();
  });

  it('makes no file before something is put, and then a folder that only its owner may enter (R-19, C-9)', async () => {
    const root = temporaryDirectory();
    const store = createSharedResults({ root });
    expect(await store.get('one')).toBeUndefined();
    expect(readdirSync(root)).toEqual([]);
    await store.put('one', answer, about);
    expect(statSync(join(root, 'shared-results')).mode & 0o777).toBe(0o700);
  });

  it('takes a damaged value for a miss, and heals it with the next put (R-19)', async () => {
    const root = temporaryDirectory();
    const store = createSharedResults({ root });
    await store.put('one', answer, about);
    const [file = ''] = filesIn(root, 'content');
    writeFileSync(file, readFileSync(file, 'utf8').replace('two', 'TWO'));
    expect(await store.get('one')).toBeUndefined();
    await store.put('one', answer, about);
    expect(await store.get('one')).toEqual(answer);
  });

  it('takes a value cut short, and one that is gone, for a miss (R-19)', async () => {
    const root = temporaryDirectory();
    const store = createSharedResults({ root });
    await store.put('one', answer, about);
    const [file = ''] = filesIn(root, 'content');
    writeFileSync(file, '');
    expect(await store.get('one')).toBeUndefined();
    expect(existsSync(file)).toBe(false);
    expect(await store.get('one')).toBeUndefined();
  });

  it('takes a damaged line of the index for a miss, and a torn one costs no other (R-19)', async () => {
    const root = temporaryDirectory();
    const store = createSharedResults({ root });
    await store.put('one', answer, about);
    const [index = ''] = filesIn(root, 'index');
    appendFileSync(index, '\n0123456789abcdef\t{"key":"one","integ');
    expect(await store.get('one')).toEqual(answer);
    writeFileSync(index, readFileSync(index, 'utf8').replace('"attempts":2', '"attempts":3'));
    expect(await store.get('one')).toBeUndefined();
  });

  it('rejects a put that cannot be stored, with the reason (R-19)', async () => {
    const root = temporaryDirectory();
    writeFileSync(join(root, 'shared-results'), 'a file in the way');
    const store = createSharedResults({ root });
    expect(await store.get('one')).toBeUndefined();
    await expect(store.put('one', answer, about)).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' });
  });

  it('processes that write the same results at once lose and mix none (R-19)', async () => {
    const root = temporaryDirectory();
    const writer = fileURLToPath(new URL('./shared-results-writer.ts', import.meta.url));
    const exits = await Promise.all(
      ['a', 'b', 'c'].map(
        (name) =>
          new Promise((resolve) => {
            spawn(process.execPath, [writer, root, name], { stdio: 'inherit' }).on('close', resolve);
          }),
      ),
    );
    expect(exits).toEqual([0, 0, 0]);
    const store = createSharedResults({ root });
    for (let i = 0; i < 30; i++) {
      const value = JSON.parse((await store.get(`id ${i}`))?.valueJson ?? 'null');
      expect(value).toEqual({ id: i, by: expect.stringMatching(/^[abc]$/), text: 'x'.repeat(500) });
    }
  });
});

describe('looking after shared results', () => {
  it('lists what is there, the latest first, with backend, model and size (R-19)', async () => {
    const root = temporaryDirectory();
    expect(await listSharedResults(root)).toEqual([]);
    const store = createSharedResults({ root });
    await store.put('one', answer, about);
    await store.put('two', { valueJson: '"text"', attempts: 0 }, { ...about, model: null });
    const entries = await listSharedResults(root);
    expect(entries).toHaveLength(2);
    const one = entries.find(({ model }) => model === 'haiku');
    expect(one).toEqual({ ...about, attempts: 2, size: Buffer.byteLength(answer.valueJson), storedAt: one?.storedAt });
    const times = entries.map(({ storedAt }) => storedAt);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  it('verify removes what is damaged and what belongs to nothing, and keeps the rest (R-19)', async () => {
    const root = temporaryDirectory();
    expect(await verifySharedResults(root)).toMatchObject({ kept: 0 });
    const store = createSharedResults({ root });
    await store.put('one', answer, about);
    await store.put('two', { valueJson: '"damaged"', attempts: 0 }, about);
    await store.put('three', { valueJson: '"old"', attempts: 0 }, about);
    await store.put('three', { valueJson: '"new"', attempts: 0 }, about);
    const file = filesIn(root, 'content').find((path) => readFileSync(path, 'utf8') === '"damaged"') ?? '';
    writeFileSync(file, '"DAMAGED"');
    expect(await verifySharedResults(root)).toEqual({
      kept: 2,
      keptBytes: Buffer.byteLength(answer.valueJson) + 5,
      damaged: 1,
      orphans: 1,
      freedBytes: 9 + 5,
    });
    expect(await listSharedResults(root)).toHaveLength(2);
    expect(await store.get('one')).toEqual(answer);
    expect((await store.get('three'))?.valueJson).toBe('"new"');
  });

  it('clear removes everything; a run that has the store open goes on (R-19)', async () => {
    const root = temporaryDirectory();
    await clearSharedResults(root);
    const store = createSharedResults({ root });
    await store.put('one', answer, about);
    await clearSharedResults(root);
    expect(await store.get('one')).toBeUndefined();
    await store.put('one', answer, about);
    expect(await store.get('one')).toEqual(answer);
    expect(statSync(join(root, 'shared-results')).mode & 0o777).toBe(0o700);
  });

  it('says which folder cannot be read (R-19)', async () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'shared-results/index-v5/ab/cd'), { recursive: true });
    mkdirSync(join(root, 'shared-results/index-v5/ab/cd/is-a-folder'));
    await expect(listSharedResults(root)).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining(root),
    });
  });
});
