import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Slots } from '../../../../runtime/calls/slots.ts';

describe('Slots', () => {
  it('never grants more than its size and grants in order (A-11)', async () => {
    const slots = new Slots(2);
    const order: number[] = [];
    let running = 0;
    let peak = 0;
    const releases: (() => void)[] = [];
    const all = Promise.all(
      [0, 1, 2, 3, 4].map(
        (n) =>
          new Promise<void>((resolve) => {
            slots.run((release) => {
              order.push(n);
              peak = Math.max(peak, ++running);
              releases.push(() => {
                running -= 1;
                release();
                resolve();
              });
            });
          }),
      ),
    );
    while (order.length < 5 || running > 0) {
      releases.shift()?.();
      await Promise.resolve();
    }
    await all;
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(peak).toBe(2);
  });

  it('halves once for all requests that were under way when the server complained (A-13)', () => {
    const slots = new Slots(16);
    slots.shrink(100, 200);
    slots.shrink(150, 210);
    expect(slots.current).toBe(8);
    slots.shrink(205, 300);
    expect(slots.current).toBe(4);
  });

  it('grows back by one for each round of successes, never above its size (A-13)', () => {
    const slots = new Slots(4);
    slots.shrink(0, 1);
    expect(slots.current).toBe(2);
    slots.succeeded();
    expect(slots.current).toBe(2);
    slots.succeeded();
    expect(slots.current).toBe(3);
    for (let i = 0; i < 20; i++) slots.succeeded();
    expect(slots.current).toBe(4);
  });

  it('never shrinks below one (A-13)', () => {
    const slots = new Slots(2);
    for (let at = 1; at < 10; at++) slots.shrink(at, at);
    expect(slots.current).toBe(1);
  });

  it.each([1, 2, 7])(
    'goes on to what waits when a slot of %i that was taken again is given back (A-13)',
    async (size) => {
      const slots = new Slots(size);
      let done = 0;
      for (let n = 0; n < 50; n++) {
        slots.run((release) => {
          release();
          void slots.take().then((again) => {
            done += 1;
            again();
          });
        });
      }
      for (let turn = 0; turn < 200 && done < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(done).toBe(50);
    },
  );

  it('loses no task and never exceeds its size, whatever is released when, taken again, shrunk or grown (A-11, A-13)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat(5), { minLength: 1, maxLength: 60 }),
        async (size, acts) => {
          const slots = new Slots(size);
          let running = 0;
          let peak = 0;
          let done = 0;
          const enter = (): void => {
            running += 1;
            peak = Math.max(peak, running);
          };
          const finish = (release: () => void): void => {
            running -= 1;
            release();
            done += 1;
            slots.succeeded();
          };
          acts.forEach((act, at) => {
            slots.run((release) => {
              enter();
              if (act === 0) return finish(release);
              if (act === 1) return queueMicrotask(() => finish(release));
              if (act === 2) return void setImmediate(() => finish(release));
              if (act === 3) slots.shrink(at, at);
              running -= 1;
              release();
              return void slots.take().then((again) => {
                enter();
                setImmediate(() => finish(again));
              });
            });
          });
          for (let turn = 0; turn < 1000 && done < acts.length; turn++)
            await new Promise((resolve) => setImmediate(resolve));
          expect([done, peak <= size]).toEqual([acts.length, true]);
        },
      ),
      { numRuns: 200 },
    );
  });
});
