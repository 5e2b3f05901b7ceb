import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Disk, nodeDisk } from '../../../cache/disk.ts';
import { EventLogFile, type EventLogFileOptions } from '../../../cache/event-log-file.ts';
import { readEvents } from '../../../cache/event-reader.ts';
import { findEventTail } from '../../../cache/event-tail.ts';
import type { CoreEvent } from '../../../protocol/core-event.ts';
import type { Clock } from '../../../runtime/ports.ts';
import { createRedactor } from '../../../runtime/redact.ts';
import { errno, faultyDisk } from '../../fault/faulty-disk.ts';
import { temporaryDirectories } from './temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();

/** Time stands at 5; timers fire only when `fire` is called. */
function stillClock(): Clock & { fire(): void } {
  const waiting = new Set<() => void>();
  return {
    now: () => 5,
    after(_delayMs, callback) {
      waiting.add(callback);
      return { cancel: () => void waiting.delete(callback) };
    },
    fire() {
      for (const callback of waiting) {
        callback();
      }
    },
  };
}

async function openLog(path: string, over: Partial<EventLogFileOptions> = {}): Promise<EventLogFile> {
  const disk = over.disk ?? nodeDisk;
  return new EventLogFile({ disk, path, clock: stillClock(), tail: await findEventTail(disk, path), ...over });
}

function say(log: EventLogFile, text: string): void {
  log.append('log', { level: 'info', text });
}

function lines(path: string): CoreEvent[] {
  const text = readFileSync(path, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('EventLogFile', () => {
  it('events get seq from 1 without gaps and the time of the clock (E-1)', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    const log = await openLog(path);
    say(log, 'one 😀');
    log.append('phase.started', { index: 1, title: 'Review' });
    await log.close();
    expect(lines(path)).toEqual([
      { seq: 1, at: 5, type: 'log', data: { level: 'info', text: 'one 😀' } },
      { seq: 2, at: 5, type: 'phase.started', data: { index: 1, title: 'Review' } },
    ]);
  });

  it('a later launch goes on where the log ended (E-1)', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    for (const launch of ['a', 'b', 'c']) {
      const log = await openLog(path);
      say(log, launch);
      say(log, `${launch} again`);
      await log.close();
    }
    expect(lines(path).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('a log cut at any byte of its last line goes on without a gap (E-1)', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    const log = await openLog(path);
    say(log, 'one');
    say(log, 'zwei Grüße');
    await log.close();
    const whole = readFileSync(path);
    const lastStart = whole.lastIndexOf(10, whole.length - 2) + 1;
    for (let bytes = lastStart; bytes <= whole.length; bytes += 1) {
      writeFileSync(path, whole.subarray(0, bytes));
      const next = await openLog(path);
      say(next, 'next');
      await next.close();
      const seqs = lines(path).map(({ seq }) => seq);
      expect(seqs, `cut at ${bytes}`).toEqual(bytes >= whole.length - 1 ? [1, 2, 3] : [1, 2]);
    }
  });

  it('a torn last line longer than what is read at once is cut off too', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    const log = await openLog(path);
    say(log, 'x'.repeat(300_000));
    await log.close();
    appendFileSync(path, `{"seq":2,"text":"${'y'.repeat(500_000)}`);
    const next = await openLog(path);
    say(next, 'next');
    await next.close();
    expect(lines(path).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it('a file of rubbish only starts anew at 1', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    writeFileSync(path, Buffer.alloc(100_000));
    const log = await openLog(path);
    say(log, 'first');
    await log.close();
    expect(lines(path).map(({ seq }) => seq)).toEqual([1]);
  });

  it('a sink sees an event only after it is in the file, in order (E-1)', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    const log = await openLog(path);
    const seen: number[] = [];
    log.addSink({
      handle: ({ seq }) => {
        expect(lines(path).length).toBeGreaterThanOrEqual(seq);
        seen.push(seq);
      },
    });
    for (let n = 0; n < 10; n += 1) {
      say(log, `event ${n}`);
    }
    expect(seen).toEqual([]);
    await log.flush();
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await log.close();
  });

  it('a sink that throws is taken off, told of once, and harms no other (E-3)', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    const told: unknown[] = [];
    const log = await openLog(path, { onSinkError: (error) => void told.push(error) });
    const seen: string[] = [];
    const broken = new Error('EPIPE');
    log.addSink({
      handle: ({ seq }) => {
        seen.push(`broken ${seq}`);
        throw broken;
      },
    });
    log.addSink({ handle: ({ seq }) => void seen.push(`good ${seq}`) });
    say(log, 'one');
    say(log, 'two');
    await log.close();
    expect(seen).toEqual(['broken 1', 'good 1', 'good 2']);
    expect(told).toEqual([broken]);
  });

  it('sinks are closed after the last event, and one that never ends is not waited for (E-3)', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    const clock = stillClock();
    const log = await openLog(path, { clock });
    const order: string[] = [];
    const closing = Promise.withResolvers<void>();
    log.addSink({
      handle: () => void order.push('event'),
      close: () => {
        order.push('close');
        closing.resolve();
        return new Promise(() => undefined);
      },
    });
    say(log, 'one');
    const closed = log.close();
    await closing.promise;
    clock.fire();
    await closed;
    expect(order).toEqual(['event', 'close']);
  });

  it('an event that a sink causes is written and handed on before flush resolves', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    const log = await openLog(path);
    const seen: number[] = [];
    log.addSink({
      handle: ({ seq }) => {
        seen.push(seq);
        if (seq < 3) {
          say(log, 'and another');
        }
      },
    });
    say(log, 'one');
    await log.flush();
    expect(seen).toEqual([1, 2, 3]);
    await log.close();
  });

  it('when the disk refuses, sinks still learn the end and flush rejects', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    let full = false;
    const disk = faultyDisk((method) => {
      if (full && method === 'write') {
        throw errno('ENOSPC', 'no space left on device');
      }
    });
    const log = await openLog(path, { disk });
    const seen: number[] = [];
    log.addSink({ handle: ({ seq }) => void seen.push(seq) });
    say(log, 'one');
    await log.flush();
    full = true;
    say(log, 'two');
    await expect(log.flush()).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' });
    full = false;
    say(log, 'three');
    await expect(log.close()).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' });
    expect(seen).toEqual([1, 2, 3]);
    expect(lines(path).map(({ seq }) => seq)).toEqual([1]);
  });

  it('a flood while the disk is busy is written at once, in order and without a hole', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    const gate = Promise.withResolvers<void>();
    const writing = Promise.withResolvers<void>();
    let writes = 0;
    let directBytes = 0;
    const writeSync: Disk['writeSync'] = (fd, data, offset, length, position) => {
      const bytes = nodeDisk.writeSync(fd, data, offset, length, position);
      directBytes += bytes;
      return bytes;
    };
    const disk = faultyDisk(
      async (method) => {
        writes += method === 'write' ? 1 : 0;
        if (writes === 2) {
          writing.resolve();
          await gate.promise;
        }
      },
      { writeSync },
    );
    const log = await openLog(path, { disk });
    const seen: number[] = [];
    log.addSink({ handle: ({ seq }) => void seen.push(seq) });
    say(log, 'first');
    await log.flush();
    say(log, 'the batch on its way');
    await writing.promise;
    for (let n = 0; n < 20; n += 1) {
      say(log, 'x'.repeat(1_000_000));
    }
    expect(directBytes).toBeGreaterThan(8_000_000);
    const soFar = readFileSync(path, 'utf8').split('\n');
    expect(soFar.slice(0, -1).map((line) => JSON.parse(line).seq)).toEqual(
      Array.from({ length: soFar.length - 1 }, (_, i) => i + 1),
    );
    gate.resolve();
    await log.close();
    const all = Array.from({ length: 22 }, (_, i) => i + 1);
    expect(lines(path).map(({ seq }) => seq)).toEqual(all);
    expect(seen).toEqual(all);
  });

  it('secrets reach neither the file nor a sink (A-32)', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    const secret = 'pa"ss\\wörd-123';
    const log = await openLog(path, { redactor: createRedactor([secret]) });
    const seen: CoreEvent[] = [];
    log.addSink({ handle: (event) => void seen.push(event) });
    say(log, `it is ${secret}.`);
    await log.close();
    const expected = { level: 'info', text: 'it is [REDACTED].' };
    expect(lines(path)[0]?.data).toEqual(expected);
    expect(seen[0]?.data).toEqual(expected);
  });

  it('nothing is touched before the first event (R-13)', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    const log = await openLog(path);
    await log.close();
    expect(existsSync(path)).toBe(false);
  });

  it('100,000 events are put in line at a few microseconds each', async () => {
    const path = join(temporaryDirectory(), 'events.ndjson');
    const log = await openLog(path, { redactor: createRedactor(['a secret of the test']) });
    const start = performance.now();
    for (let n = 0; n < 100_000; n += 1) {
      say(log, `agent ${n} says something of an ordinary length, as agents do`);
    }
    const us = ((performance.now() - start) * 1000) / 100_000;
    await log.close();
    console.log(`events: ${us.toFixed(2)} µs an event at 100000 events`);
    let count = 0;
    await readEvents(path, ({ seq }) => {
      count += 1;
      expect(seq).toBe(count);
    });
    expect(count).toBe(100_000);
  });
});
