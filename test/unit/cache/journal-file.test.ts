import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../cache/disk.ts';
import { JournalFile } from '../../../cache/journal-file.ts';
import { journalRowSchema } from '../../../protocol/journal-row.ts';
import { faultyDisk } from '../../fault/faulty-disk.ts';
import { failedRow, launchedRow, resultHead, startedRow } from './sample-rows.ts';
import { temporaryDirectories } from './temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();

describe('JournalFile', () => {
  it('each line is a row of the schema, sealed with the CRC of the bytes before the seal (R-4)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const journal = new JournalFile({ disk: nodeDisk, path });
    journal.append(launchedRow());
    journal.append(startedRow(1, { label: 'Grüße 😀 "x"\n', phase: null }));
    journal.appendResult(resultHead(1, { lastAttempt: true }), '{"b":1,"a":"日本"}');
    journal.append(failedRow(2));
    await journal.durable();
    await journal.close();

    const lines = readFileSync(path, 'utf8').split('\n');
    expect(lines.pop()).toBe('');
    const rows = lines.map((line) => JSON.parse(line));
    for (const [i, line] of lines.entries()) {
      const sealed = /^(.*),"crc":"([0-9a-f]{8})"\}$/s.exec(line);
      expect(sealed?.[2]).toBe(
        crc32(sealed?.[1] ?? '')
          .toString(16)
          .padStart(8, '0'),
      );
      expect(Object.keys(rows[i]).at(-1)).toBe('crc');
      journalRowSchema.parse(rows[i]);
    }
    const { crc: _, ...started } = rows[1];
    expect(started).toEqual(startedRow(1, { label: 'Grüße 😀 "x"\n', phase: null }));
    expect(lines[2]).toContain(',"result":{"b":1,"a":"日本"},"crc":"');
    expect(rows[2]).toMatchObject(resultHead(1, { lastAttempt: true }));
  });

  it('nothing is touched before the first row (R-13)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const calls: string[] = [];
    const journal = new JournalFile({ disk: nodeDisk, path, repair: async () => void calls.push('repair') });
    await journal.durable();
    await journal.close();
    expect(existsSync(path)).toBe(false);
    expect(calls).toEqual([]);
  });

  it('rows that come together share one sync, and rows that come during a sync share the next (R-5)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    let syncs = 0;
    const gate = Promise.withResolvers<void>();
    const syncing = Promise.withResolvers<void>();
    const disk = faultyDisk(async (method) => {
      if (method === 'datasync') {
        syncs += 1;
        syncing.resolve();
        await gate.promise;
      }
    });
    const journal = new JournalFile({ disk, path });
    const waits = new Set<Promise<void>>();
    for (let n = 0; n < 100; n += 1) {
      journal.appendResult(resultHead(n), `"${n}"`);
      waits.add(journal.durable());
    }
    expect(waits.size).toBe(1);
    await syncing.promise;
    for (let n = 100; n < 200; n += 1) {
      journal.appendResult(resultHead(n), `"${n}"`);
      waits.add(journal.durable());
    }
    expect(waits.size).toBe(2);
    gate.resolve();
    await Promise.all(waits);
    expect(syncs).toBe(2);
    await journal.durable();
    expect(syncs).toBe(2);
    await journal.close();
    expect(syncs).toBe(2);
    const results = readFileSync(path, 'utf8').trim().split('\n');
    expect(results.map((line) => JSON.parse(line).result)).toEqual(Array.from({ length: 200 }, (_, n) => String(n)));
  });

  it('durable() resolves only after the sync, not after the write (R-5)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const order: string[] = [];
    const disk = faultyDisk((method) => void order.push(method));
    const journal = new JournalFile({ disk, path });
    journal.appendResult(resultHead(1), '1');
    await journal.durable().then(() => order.push('durable'));
    expect(order).toEqual(['write', 'datasync', 'durable']);
    await journal.close();
  });

  it('a row that nobody waits for is written soon, and made durable on close', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const order: string[] = [];
    const written = Promise.withResolvers<void>();
    const disk = faultyDisk((method) => {
      order.push(method);
      written.resolve();
    });
    const journal = new JournalFile({ disk, path });
    journal.append(startedRow(1));
    await written.promise;
    await journal.close();
    expect(order).toEqual(['write', 'datasync']);
  });

  it('a row that comes after the end is refused aloud', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const journal = new JournalFile({ disk: nodeDisk, path });
    journal.append(startedRow(1));
    await journal.close();
    journal.appendResult(resultHead(1), '1');
    await expect(journal.durable()).rejects.toMatchObject({ code: 'INTERNAL_INVARIANT' });
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(2);
  });

  it('100,000 rows are put in line at a few microseconds each', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const journal = new JournalFile({ disk: nodeDisk, path });
    const heads = Array.from({ length: 100_000 }, (_, n) => resultHead(n));
    const start = performance.now();
    for (const head of heads) {
      journal.appendResult(head, '{"title":"hello","items":["x","y"]}');
    }
    const appendedMs = performance.now() - start;
    await journal.durable();
    await journal.close();
    console.log(`journal: ${((appendedMs * 1000) / heads.length).toFixed(2)} µs a row at ${heads.length} rows`);
    expect(readFileSync(path).length).toBeGreaterThan(20_000_000);
  });
});
