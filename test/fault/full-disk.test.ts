import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../cache/disk.ts';
import { JournalFile } from '../../cache/journal-file.ts';
import { readJournal } from '../../cache/journal-reader.ts';
import { replaceFile } from '../../cache/replace-file.ts';
import { launchedRow, resultHead } from '../unit/cache/sample-rows.ts';
import { temporaryDirectories } from '../unit/cache/temporary-directory.ts';
import { errno, faultyDisk } from './faulty-disk.ts';

const temporaryDirectory = temporaryDirectories();

describe('a disk that is full or broken', () => {
  it('a full disk rejects durable() and says what may be lost, for a real device too (C-9)', async () => {
    const journal = new JournalFile({ disk: nodeDisk, path: '/dev/full' });
    journal.append(launchedRow());
    journal.appendResult(resultHead(1), '"one"');
    await expect(journal.durable()).rejects.toMatchObject({
      code: 'STATE_UNWRITABLE',
      message: expect.stringMatching(/\/dev\/full .*ENOSPC.*last 2 rows.*1 result .*Free some space/s),
      data: { errno: 'ENOSPC' },
    });
    await journal.close();
  });

  it('a write that fails half-way loses only what was not durable, and nothing is written after it (R-5, R-7)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    let writes = 0;
    const disk = faultyDisk((method) => {
      writes += method === 'write' ? 1 : 0;
      if (method === 'write' && writes === 2) {
        throw errno('ENOSPC', 'no space left on device');
      }
    });
    const journal = new JournalFile({ disk, path });
    journal.append(launchedRow());
    journal.appendResult(resultHead(1), '"one"');
    await journal.durable();
    journal.appendResult(resultHead(2), '"two"');
    await expect(journal.durable()).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' });
    journal.appendResult(resultHead(3), '"three"');
    await expect(journal.durable()).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' });
    await journal.close();
    expect(writes).toBe(2);
    const { rows } = await readJournal(nodeDisk, path);
    expect(rows.map(({ resultJson }) => resultJson)).toEqual([undefined, '"one"']);
  });

  it('a failed sync is never tried again: the system may have dropped the pages (R-5)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    let syncs = 0;
    const disk = faultyDisk((method) => {
      if (method === 'datasync') {
        syncs += 1;
        throw errno('EIO', 'i/o error');
      }
    });
    const journal = new JournalFile({ disk, path });
    journal.appendResult(resultHead(1), '"one"');
    await expect(journal.durable()).rejects.toMatchObject({ code: 'STATE_UNWRITABLE', data: { errno: 'EIO' } });
    await expect(journal.durable()).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' });
    await journal.close();
    expect(syncs).toBe(1);
  });

  it('everybody who waits is told, those of the next batch too', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const gate = Promise.withResolvers<void>();
    const writing = Promise.withResolvers<void>();
    const disk = faultyDisk(async (method) => {
      if (method === 'write') {
        writing.resolve();
        await gate.promise;
        throw errno('ENOSPC', 'no space left on device');
      }
    });
    const journal = new JournalFile({ disk, path });
    journal.appendResult(resultHead(1), '"one"');
    const first = journal.durable();
    await writing.promise;
    journal.appendResult(resultHead(2), '"two"');
    const second = journal.durable();
    expect(second).not.toBe(first);
    gate.resolve();
    const ends = await Promise.allSettled([first, second]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await journal.close();
  });

  it('a failure that nobody waited for is told by close', async () => {
    const journal = new JournalFile({ disk: nodeDisk, path: '/dev/full' });
    journal.append(launchedRow());
    await expect(journal.close()).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' });
  });

  it('a write that the system cuts short is gone on with (R-7)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const disk = {
      ...nodeDisk,
      open: async (...args: Parameters<typeof nodeDisk.open>) => {
        const file = await nodeDisk.open(...args);
        const write = file.write.bind(file) as (data: Uint8Array, offset: number, length: number) => unknown;
        const short = (data: Uint8Array, offset: number, length: number) => write(data, offset, Math.min(7, length));
        return Object.assign(file, { write: short }) as typeof file;
      },
    };
    const journal = new JournalFile({ disk, path });
    journal.appendResult(resultHead(1), '"one"');
    await journal.close();
    expect((await readJournal(nodeDisk, path)).rows).toHaveLength(1);
    await replaceFile(disk, path, 'a text longer than what is taken at once');
    expect(readFileSync(path, 'utf8')).toBe('a text longer than what is taken at once');
  });

  it('a record that cannot be replaced stays as it was (R-13)', async () => {
    const path = join(temporaryDirectory(), 'run.json');
    await replaceFile(nodeDisk, path, 'old');
    const disk = faultyDisk((method) => {
      if (method === 'sync') {
        throw errno('ENOSPC', 'no space left on device');
      }
    });
    await expect(replaceFile(disk, path, 'new')).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' });
    expect(readFileSync(path, 'utf8')).toBe('old');
  });
});
