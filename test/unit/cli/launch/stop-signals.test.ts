import { describe, expect, it, type Mock, vi } from 'vitest';
import { listenForStop } from '../../../../cli/launch/stop-signals.ts';
import type { RunHandle } from '../../../../runtime/run-options.ts';
import { fakeContext } from '../fake-context.ts';

function fakeRun(): RunHandle & { stop: Mock<(reason?: string) => void> } {
  return {
    runId: 'wf_00000000-000',
    directory: '/nowhere',
    done: new Promise(() => {}),
    stop: vi.fn<(reason?: string) => void>(),
  };
}

describe('listenForStop', () => {
  it('the first signal stops the run, the second ends the process at once (C-8)', () => {
    const context = fakeContext();
    const killAll = vi.fn();
    const run = fakeRun();
    const stop = listenForStop(context, killAll);
    stop.watch(run);
    context.signal('SIGINT');
    expect(run.stop).toHaveBeenCalledOnce();
    expect(stop.received).toBe('SIGINT');
    expect(context.exits).toEqual([]);
    context.signal('SIGTERM');
    expect(killAll).toHaveBeenCalledOnce();
    expect(context.exits).toEqual([130]);
    stop.dispose();
  });

  it('a signal before the run is under way stops it as soon as it is (C-8)', () => {
    const context = fakeContext();
    const stop = listenForStop(context, () => {});
    context.signal('SIGTERM');
    expect(stop.signal.aborted).toBe(true);
    const run = fakeRun();
    stop.watch(run);
    expect(run.stop).toHaveBeenCalledOnce();
    stop.dispose();
  });

  it('a run that does not end in time is given up (C-8)', async () => {
    vi.useFakeTimers();
    try {
      const context = fakeContext();
      const stop = listenForStop(context, () => {});
      let late = false;
      void stop.overdue.then(() => {
        late = true;
      });
      await vi.advanceTimersByTimeAsync(60_000);
      expect(late).toBe(false);
      context.signal('SIGHUP');
      await vi.advanceTimersByTimeAsync(4_000);
      expect(late).toBe(true);
      stop.dispose();
    } finally {
      vi.useRealTimers();
    }
  });
});
