import { hash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../cache/disk.ts';
import { JournalFile } from '../../cache/journal-file.ts';
import { readJournal } from '../../cache/journal-reader.ts';
import { journalRowSchema } from '../../protocol/journal-row.ts';
import { launchedRow } from '../unit/cache/sample-rows.ts';
import { temporaryDirectories } from '../unit/cache/temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();
const RECORDED = join(import.meta.dirname, 'journal-v1.jsonl');
const EXPECTED = JSON.parse(readFileSync(join(import.meta.dirname, 'journal-v1.expected.json'), 'utf8'));

/** The results as the scripts got them, byte for byte. */
const RESULTS = [
  '"hello to you"',
  JSON.stringify('line 1\nline 2 – "quoted" \\ 日本語 \u2028'),
  '{"n":1.50,"b":{"result":",\\"crc\\":\\"00000000\\"}"},"a":[1e2,-0,null],"10":true,"9":12345678901234567890}',
  '""',
];

describe('the recorded journal of version 1', () => {
  it('is the file that was recorded: what is once stored is never edited (R-18)', () => {
    expect(hash('sha256', readFileSync(RECORDED))).toBe(
      'cf85cbcacfcba707529eab237b2c2913313e7395d76862cc09a4625285c14341',
    );
  });

  it('keeps reading, row by row and result by result (R-18)', async () => {
    const { rows, warnings, repair } = await readJournal(nodeDisk, RECORDED);
    expect(warnings).toEqual([]);
    expect(repair).toBeUndefined();
    expect(rows.map(({ row }) => row)).toEqual(EXPECTED);
    const results = rows.filter(({ row }) => row.type === 'result');
    expect(results.map(({ resultJson }) => resultJson)).toEqual(RESULTS);
    for (const { row, resultJson } of rows) {
      journalRowSchema.parse(resultJson === undefined ? row : { ...row, result: JSON.parse(resultJson) });
    }
  });

  it('can be gone on with, its old bytes untouched (R-12, R-18)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    copyFileSync(RECORDED, path);
    const journal = new JournalFile({ disk: nodeDisk, path });
    journal.append(launchedRow({ launch: 3 }));
    await journal.close();
    const before = readFileSync(RECORDED);
    expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
    expect((await readJournal(nodeDisk, path)).rows).toHaveLength(EXPECTED.length + 1);
  });
});
