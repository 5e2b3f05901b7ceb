import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followEvents } from '../../../../cli/output/follow-events.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wf-follow-'));
  path = join(folder, 'events.ndjson');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const line = (seq: number, text = ''): string => `${JSON.stringify({ seq, at: 0, type: 'log', data: { text } })}\n`;

describe('followEvents', () => {
  it('gives what is there and what is appended, until nobody writes any more (C-5)', async () => {
    writeFileSync(path, line(1) + line(2).slice(0, 9));
    // Each look at the writer appends the next part; the last line comes after the writer has gone.
    const parts = [line(2).slice(9), line(3), line(4)];
    const isOver = async (): Promise<boolean> => {
      const part = parts.shift();
      if (part !== undefined) appendFileSync(path, part);
      return parts.length === 0;
    };
    const seen: number[] = [];
    for await (const event of followEvents(path, isOver)) seen.push(event.seq);
    expect(seen).toEqual([1, 2, 3, 4]);
  });

  it('a line longer than one read, and characters of several bytes, stay whole (E-2)', async () => {
    const text = 'é😀'.repeat(100_000);
    writeFileSync(path, line(1, text) + line(2));
    const seen: unknown[] = [];
    for await (const event of followEvents(path, async () => true)) seen.push((event.data as { text: string }).text);
    expect(seen).toEqual([text, '']);
  });

  it('lines that are no events are passed over (E-12)', async () => {
    writeFileSync(path, `{"seq":\n\nnull\n${line(7)}{"seq":8`);
    const seen: number[] = [];
    for await (const event of followEvents(path, async () => true)) seen.push(event.seq);
    expect(seen).toEqual([7]);
  });
});
