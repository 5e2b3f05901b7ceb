import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../cache/disk.ts';
import { JournalFile } from '../../cache/journal-file.ts';
import { readJournal } from '../../cache/journal-reader.ts';
import { launchedRow, resultHead, startedRow } from '../unit/cache/sample-rows.ts';
import { temporaryDirectories } from '../unit/cache/temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();

/** A journal of a launch and two finished calls; the last row is the second result. */
async function sampleJournal(path: string): Promise<Buffer> {
  const journal = new JournalFile({ disk: nodeDisk, path });
  journal.append(launchedRow());
  journal.append(startedRow(1));
  journal.appendResult(resultHead(1), '"one"');
  journal.append(startedRow(2));
  journal.appendResult(resultHead(2), '{"text":"zwei Grüße 😀","n":1.50}');
  await journal.close();
  return readFileSync(path);
}

describe('a journal cut by a crash', () => {
  it('a journal cut at any byte of its last row loses nothing before it and can be gone on with (R-6, R-7)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const whole = await sampleJournal(path);
    const lastStart = whole.lastIndexOf(10, whole.length - 2) + 1;
    for (let bytes = lastStart; bytes <= whole.length; bytes += 1) {
      writeFileSync(path, whole.subarray(0, bytes));
      const { rows, warnings, repair } = await readJournal(nodeDisk, path);
      const isWhole = bytes >= whole.length - 1;
      expect(rows.length, `cut at ${bytes}`).toBe(isWhole ? 5 : 4);
      expect(warnings, `cut at ${bytes}`).toHaveLength(isWhole || bytes === lastStart ? 0 : 1);

      const journal = new JournalFile({ disk: nodeDisk, path, repair });
      journal.append(launchedRow({ launch: 2 }));
      journal.appendResult(resultHead(3), '"three"');
      await journal.close();
      const later = await readJournal(nodeDisk, path);
      expect(later.warnings, `cut at ${bytes}`).toEqual([]);
      expect(later.repair, `cut at ${bytes}`).toBeUndefined();
      expect(later.rows.map(({ resultJson }) => resultJson).filter(Boolean)).toEqual(
        isWhole ? ['"one"', '{"text":"zwei Grüße 😀","n":1.50}', '"three"'] : ['"one"', '"three"'],
      );
    }
  });

  it('a journal cut at any byte at all is read without an error (R-7)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const journal = new JournalFile({ disk: nodeDisk, path });
    journal.append(startedRow(1));
    journal.appendResult(resultHead(1), '"one"');
    await journal.close();
    const whole = readFileSync(path);
    for (let bytes = 0; bytes <= whole.length; bytes += 1) {
      writeFileSync(path, whole.subarray(0, bytes));
      const { rows } = await readJournal(nodeDisk, path);
      const newlines = whole.subarray(0, bytes).filter((byte) => byte === 10).length;
      expect([newlines, newlines + 1], `cut at ${bytes}`).toContain(rows.length);
    }
  });

  it('a tail of zeros, as a file system leaves it after a power cut, is dropped (R-6)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const whole = await sampleJournal(path);
    writeFileSync(path, Buffer.concat([whole, Buffer.alloc(5000)]));
    const { rows, warnings, repair } = await readJournal(nodeDisk, path);
    expect(rows).toHaveLength(5);
    expect(warnings).toHaveLength(1);
    await repair?.(async () => {});
    expect(readFileSync(path).equals(whole)).toBe(true);
  });
});
