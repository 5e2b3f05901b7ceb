import { describe, expect, it } from 'vitest';
import { PrefixWarmth } from '../../../../agents/anthropic/prefix-warmth.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';

const LONG = 'x'.repeat(4_096);
const { signal } = new AbortController();

/** Agents that start at once with the same prefix; `left` grows as their requests leave. */
function start(warmth: PrefixWarmth, count: number, prefix = LONG, own = signal) {
  const left: ((began: boolean) => void)[] = [];
  const refused: unknown[] = [];
  for (let n = 0; n < count; n += 1) {
    warmth.turnOf(prefix, own).then(
      (warmed) => left.push(warmed),
      (error: unknown) => refused.push(error),
    );
  }
  return { left, refused };
}

describe('the first of many like agents', () => {
  it('goes ahead, and the others follow when its answer begins; later ones do not wait (A-25)', async () => {
    const clock = new FakeClock();
    const warmth = new PrefixWarmth(clock);
    const { left } = start(warmth, 5);
    await settle();
    expect(left).toHaveLength(1);
    left[0]?.(true);
    await settle();
    expect(left).toHaveLength(5);
    const later = start(warmth, 3);
    await settle();
    expect(later.left).toHaveLength(3);
    expect(clock.pending).toBe(0);
  });

  it('is waited for three seconds and no more (A-25)', async () => {
    const clock = new FakeClock();
    const { left } = start(new PrefixWarmth(clock), 3);
    await clock.advance(2_999);
    expect(left).toHaveLength(1);
    await clock.advance(1);
    expect(left).toHaveLength(3);
  });

  it('hands over to the next when it fails (A-25)', async () => {
    const { left } = start(new PrefixWarmth(new FakeClock()), 3);
    await settle();
    left[0]?.(false);
    await settle();
    expect(left).toHaveLength(2);
    left[1]?.(true);
    await settle();
    expect(left).toHaveLength(3);
  });

  it('keeps nobody waiting who sends something else, or too little to be cached (A-25)', async () => {
    const warmth = new PrefixWarmth(new FakeClock());
    start(warmth, 1);
    const others = [start(warmth, 1, `${LONG}y`), start(warmth, 3, LONG.slice(1))];
    await settle();
    expect(others.map(({ left }) => left.length)).toEqual([1, 3]);
  });

  it('goes ahead anew when the cache has forgotten (A-25)', async () => {
    const clock = new FakeClock();
    const warmth = new PrefixWarmth(clock);
    const first = start(warmth, 1);
    await settle();
    first.left[0]?.(true);
    await clock.advance(270_000);
    const { left } = start(warmth, 2);
    await settle();
    expect(left).toHaveLength(1);
  });

  it('lets an agent that is stopped go at once (A-18)', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const { refused } = start(new PrefixWarmth(clock), 2, LONG, stop.signal);
    await settle();
    stop.abort(new Error('stopped'));
    await settle();
    expect(refused).toEqual([new Error('stopped')]);
    expect(clock.pending).toBe(0);
  });
});
