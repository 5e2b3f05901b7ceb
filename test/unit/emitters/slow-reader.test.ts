import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLineWriter } from '../../../emitters/slow-reader.ts';
import { createFakeClock } from './sample-log.ts';

/** A stream whose reader takes one piece each time it is told to. */
function createSlowStream() {
  const read: string[] = [];
  let release: (() => void) | undefined;
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      read.push(String(chunk));
      release = () => done();
    },
  });
  const readOne = async (): Promise<void> => {
    const go = release;
    release = undefined;
    go?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stream, read, readOne };
}

describe('the line writer', () => {
  it('passes lines on at once while the reader keeps up', () => {
    const stream = new PassThrough();
    const writer = createLineWriter(stream);
    writer.write('one', true);
    writer.write('two', false);
    expect(String(stream.read())).toBe('one\ntwo\n');
  });

  it('gives a slow reader every critical line in order and only the newest of the others (E-3, E-9)', async () => {
    const { stream, read, readOne } = createSlowStream();
    const writer = createLineWriter(stream);
    writer.write('started', true);
    for (let n = 1; n <= 1000; n++) writer.write(`progress ${n}`, false);
    writer.write('updated', true);
    writer.write('notification', true);
    for (let n = 0; n < 6; n++) await readOne();
    expect(read.join('')).toBe('started\nprogress 1000\nupdated\nnotification\n');
  });

  it('keeps lines that add to a snapshot behind it, until too many wait (E-9)', async () => {
    const { stream, read, readOne } = createSlowStream();
    const writer = createLineWriter(stream);
    writer.write('started', true);
    writer.write('old snapshot', false, true);
    writer.write('old change', false, false);
    writer.write('snapshot', false, true);
    for (let n = 0; n < 1000; n++) writer.write(`${n} ${'x'.repeat(1000)}`, false, false);
    writer.write('end', true);
    for (let n = 0; n < 200; n++) await readOne();
    const lines = read.join('').trimEnd().split('\n');
    expect(lines.slice(0, 2)).toEqual(['started', 'snapshot']);
    expect(lines[2]).toMatch(/^0 x/);
    expect(lines.at(-1)).toBe('end');
    expect(lines.length).toBeLessThan(80);
  });

  it('ends quietly when the reader is gone (E-3)', async () => {
    let gone = 0;
    const broken = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('broken pipe'), { code: 'EPIPE' })),
    });
    const writer = createLineWriter(broken, { onGone: () => gone++ });
    writer.write('one', true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(writer.isGone).toBe(true);
    expect(gone).toBe(1);
    writer.write('two', true);
    await writer.close();
  });

  it('takes a stream that was closed before as a reader that is gone', async () => {
    const stream = new PassThrough();
    stream.destroy();
    const writer = createLineWriter(stream);
    writer.write('one', true);
    expect(writer.isGone).toBe(true);
    await writer.close();
  });

  it('survives a stream that throws (E-3)', () => {
    const stream = new PassThrough();
    stream.write = () => {
      throw new Error('no');
    };
    const writer = createLineWriter(stream);
    writer.write('one', true);
    expect(writer.isGone).toBe(true);
  });

  it('closes once all was taken', async () => {
    const { stream, read, readOne } = createSlowStream();
    const writer = createLineWriter(stream, { clock: createFakeClock() });
    writer.write('one', true);
    writer.write('two', true);
    const closed = writer.close();
    await readOne();
    await readOne();
    await closed;
    expect(read.join('')).toBe('one\ntwo\n');
  });

  it('closes without a reader that takes nothing, when the time is up (E-3)', async () => {
    const clock = createFakeClock();
    const { stream } = createSlowStream();
    const writer = createLineWriter(stream, { clock, closeWithinMs: 500 });
    writer.write('one', true);
    writer.write('two', true);
    const closed = writer.close();
    clock.moveTo(500);
    await closed;
    expect(writer.isGone).toBe(false);
  });
});
