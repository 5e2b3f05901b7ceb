import { describe, expect, it, vi } from 'vitest';
import { createWatchdog } from '../../../../runtime/sandbox/child/watchdog.ts';
import type { LimitNotice } from '../../../../runtime/sandbox/wire.ts';

describe('the watchdog of a sandbox', () => {
  const watch = (cpuMs: () => number): { notices: LimitNotice[]; dog: ReturnType<typeof createWatchdog> } => {
    const notices: LimitNotice[] = [];
    const dog = createWatchdog({ cpuLimitMs: 100, memoryLimitMb: 100_000 }, cpuMs, (notice) => notices.push(notice));
    return { notices, dog };
  };

  it('tells of a turn that takes too much CPU time, and of no other (S-24)', () => {
    vi.useFakeTimers();
    try {
      let used = 0;
      const { notices, dog } = watch(() => used);
      dog.begin();
      used = 90;
      vi.advanceTimersByTime(60);
      dog.end();
      dog.begin();
      used = 180;
      vi.advanceTimersByTime(60);
      expect(notices).toEqual([]);
      used = 191;
      vi.advanceTimersByTime(60);
      expect(notices).toEqual([{ code: 'LIMIT_CPU' }]);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('sleeps while the script waits (S-24)', () => {
    vi.useFakeTimers();
    try {
      const { dog } = watch(() => 0);
      dog.begin();
      dog.end();
      vi.advanceTimersByTime(60);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('survives an isolate that was lost', () => {
    const { dog } = watch(() => {
      throw new Error('Isolate is disposed');
    });
    expect(() => {
      dog.begin();
      dog.end();
    }).not.toThrow();
  });
});
