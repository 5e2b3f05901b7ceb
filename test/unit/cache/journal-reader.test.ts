import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../cache/disk.ts';
import { JournalFile } from '../../../cache/journal-file.ts';
import { readJournal } from '../../../cache/journal-reader.ts';
import { failedRow, launchedRow, resultHead, startedRow } from './sample-rows.ts';
import { temporaryDirectories } from './temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();

/** Writes a journal: a launch and then, for each value, a `started` and a `result` row. */
async function writeJournal(path: string, values: readonly string[]): Promise<void> {
  const { repair } = await readJournal(nodeDisk, path);
  const journal = new JournalFile({ disk: nodeDisk, path, repair });
  journal.append(launchedRow());
  for (const [n, value] of values.entries()) {
    journal.append(startedRow(n));
    journal.appendResult(resultHead(n), value);
  }
  await journal.durable();
  await journal.close();
}

async function storedResults(path: string): Promise<(string | undefined)[]> {
  const { rows } = await readJournal(nodeDisk, path);
  return rows.filter(({ row }) => row.type === 'result').map(({ resultJson }) => resultJson);
}

function sealed(json: string): string {
  const body = json.slice(0, -1);
  return `${body},"crc":"${crc32(body).toString(16).padStart(8, '0')}"}\n`;
}

describe('readJournal', () => {
  it('a journal that is not there has no rows', async () => {
    const read = await readJournal(nodeDisk, join(temporaryDirectory(), 'journal.jsonl'));
    expect(read).toEqual({ rows: [], warnings: [], repair: undefined });
  });

  it('rows come back as they were written', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const journal = new JournalFile({ disk: nodeDisk, path });
    journal.append(launchedRow());
    journal.append(startedRow(1));
    journal.appendResult(resultHead(1), 'null');
    journal.append(failedRow(2));
    await journal.close();
    const { rows, warnings } = await readJournal(nodeDisk, path);
    expect(warnings).toEqual([]);
    expect(rows.map(({ row }) => row)).toEqual([
      { ...launchedRow() },
      { ...startedRow(1) },
      { ...resultHead(1) },
      { ...failedRow(2) },
    ]);
    expect(rows[2]?.resultJson).toBe('null');
  });

  it('the text of a result survives: key order, spelling of numbers, marks of the format inside (R-26)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const values = [
      '{"b":1.0,"a":1e2,"10":0,"9":-0}',
      '12345678901234567890.50',
      JSON.stringify({ result: ',"result":{"result":1}', crc: ',"crc":"00000000"}' }),
      '"日本語 😀 \\ud83d \\u0000"',
      `"${'x'.repeat(3_000_000)}"`,
      '""',
    ];
    await writeJournal(path, values);
    expect(await storedResults(path)).toEqual(values);
  });

  it('a label or scope that looks like the format does not move where a result begins', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const journal = new JournalFile({ disk: nodeDisk, path });
    const scope = '/x,"result":{},"crc":"00000000"}';
    journal.appendResult(resultHead(1, { scope }), '{"a":1}');
    await journal.close();
    const { rows } = await readJournal(nodeDisk, path);
    expect(rows[0]?.row).toMatchObject({ scope });
    expect(rows[0]?.resultJson).toBe('{"a":1}');
  });

  it('newlines between JSON tokens and lone surrogates keep their value', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    await writeJournal(path, ['{\n  "a": [1,\r\n 2]\n}', '"half \ud83d of it \udc00"']);
    const values = (await storedResults(path)).map((text) => JSON.parse(text ?? ''));
    expect(values).toEqual([{ a: [1, 2] }, 'half \ud83d of it \udc00']);
  });

  it('any JSON value comes back the same (R-26)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const seed = Date.now() % 2 ** 31;
    const values = fc.sample(fc.jsonValue(), { seed, numRuns: 500 }).map((value) => JSON.stringify(value));
    await writeJournal(path, values);
    expect(await storedResults(path), `seed ${seed}`).toEqual(values);
  });

  it('an altered row stops the reading with its line and the good rows around it (R-6)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    await writeJournal(path, ['"answer one"', '"answer two"', '"answer three"']);
    writeFileSync(path, readFileSync(path, 'utf8').replace('answer two', 'answer 2wo'));
    await expect(readJournal(nodeDisk, path)).rejects.toMatchObject({
      code: 'REPLAY_JOURNAL_CORRUPT',
      message: expect.stringMatching(/Line 5 .*4 good rows .* before it and 2 after.*--salvage/s),
      data: { line: 5, lines: [5], goodBefore: 4, goodAfter: 2 },
    });
  });

  it('every single altered byte of a middle row is found (R-4)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    await writeJournal(path, ['"answer one"', '"answer two"', '"answer three"']);
    const sound = readFileSync(path);
    const start = sound.indexOf('"answer two"') - 60;
    for (let at = start; at < start + 90; at += 1) {
      const altered = Buffer.from(sound);
      altered[at] = (altered[at] ?? 0) ^ 1;
      writeFileSync(path, altered);
      await expect(readJournal(nodeDisk, path), `byte ${at}`).rejects.toMatchObject({ code: 'REPLAY_JOURNAL_CORRUPT' });
    }
  });

  it('salvage keeps the good rows and moves the damaged lines to journal.rejected (R-6)', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'journal.jsonl');
    await writeJournal(path, ['"one"', '"two"', '"three"']);
    const lines = readFileSync(path, 'utf8').split('\n');
    const altered = lines[4]?.replace('two', '2wo') ?? '';
    writeFileSync(path, [...lines.slice(0, 3), 'rubbish', '', lines[3], altered, ...lines.slice(5)].join('\n'));
    const before = readFileSync(path, 'utf8');

    const read = await readJournal(nodeDisk, path, { salvage: true });
    expect(read.rows.map(({ resultJson }) => resultJson).filter(Boolean)).toEqual(['"one"', '"three"']);
    expect(read.warnings.join()).toMatch(/4, 5, 7 .*6 good rows/);
    expect(readFileSync(path, 'utf8')).toBe(before);

    const journal = new JournalFile({ disk: nodeDisk, path, repair: read.repair });
    journal.appendResult(resultHead(1), '"two again"');
    await journal.close();
    expect(await storedResults(path)).toEqual(['"one"', '"three"', '"two again"']);
    expect(readFileSync(join(directory, 'journal.rejected'), 'utf8')).toBe(`rubbish\n\n${altered}\n`);
  });

  it('salvage of a journal that also ends in a torn row keeps every whole row', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'journal.jsonl');
    await writeJournal(path, ['"one"', '"two"']);
    writeFileSync(path, `rubbish\n${readFileSync(path, 'utf8')}{"type":"resu`);
    const { repair } = await readJournal(nodeDisk, path, { salvage: true });
    await repair?.(async () => {});
    expect(await storedResults(path)).toEqual(['"one"', '"two"']);
    expect(readFileSync(join(directory, 'journal.rejected'), 'utf8')).toBe('rubbish\n{"type":"resu\n');
  });

  it('a last row that only lost its newline is kept, and the next row starts a line of its own (R-6)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    await writeJournal(path, ['"one"']);
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, -1));
    const { repair, warnings, rows } = await readJournal(nodeDisk, path);
    expect(warnings).toEqual([]);
    expect(rows).toHaveLength(3);
    const journal = new JournalFile({ disk: nodeDisk, path, repair });
    journal.appendResult(resultHead(2), '"two"');
    await journal.close();
    expect(await storedResults(path)).toEqual(['"one"', '"two"']);
  });

  it('rows of unknown types are skipped, damaged ones of them are found (R-4)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    await writeJournal(path, ['"one"']);
    const unknown = sealed('{"type":"note","text":"from later"}');
    writeFileSync(path, readFileSync(path, 'utf8') + unknown + sealed(JSON.stringify(startedRow(7))));
    const { rows, warnings } = await readJournal(nodeDisk, path);
    expect(warnings).toEqual([]);
    expect(rows.map(({ row }) => row.type)).toEqual(['launched', 'started', 'result', 'started']);
    writeFileSync(path, readFileSync(path, 'utf8').replace('from later', 'from ltaer'));
    await expect(readJournal(nodeDisk, path)).rejects.toMatchObject({ code: 'REPLAY_JOURNAL_CORRUPT' });
  });

  it('a journal of a newer format is refused with both versions, also when its rows are sealed in another way (R-18)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    const json = JSON.stringify(launchedRow({ v: 2 }));
    for (const line of [sealed(json), `${json}\n${json}\n`]) {
      writeFileSync(path, line);
      await expect(readJournal(nodeDisk, path)).rejects.toMatchObject({
        code: 'REPLAY_FORMAT_NEWER',
        message: expect.stringMatching(/format 2.*up to 1/s),
      });
    }
  });

  it('10,000 results are read in well under a second, as text of the exact size (R-17)', async () => {
    const path = join(temporaryDirectory(), 'journal.jsonl');
    await writeJournal(
      path,
      Array.from({ length: 10_000 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(200) })),
    );
    const start = performance.now();
    const { rows } = await readJournal(nodeDisk, path);
    console.log(`journal: ${rows.length} rows read in ${(performance.now() - start).toFixed(0)} ms`);
    expect(rows).toHaveLength(20_001);
  });
});
