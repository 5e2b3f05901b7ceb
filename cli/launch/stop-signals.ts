import type { RunHandle } from '../../runtime/run-options.ts';
import type { CliContext, StopSignal } from '../cli-context.ts';
import { exitCodeOfSignal } from '../exit-code.ts';

/** How long a stopped run may take to end before the process leaves without it. */
const END_WITHIN_MS = 3_500;

export interface StopSignals {
  /** The first signal that came; undefined while none has. */
  readonly received: StopSignal | undefined;
  /** Aborts with the first signal; stops a launch that has no handle yet. */
  readonly signal: AbortSignal;
  /** Tells which run to stop. */
  watch(handle: RunHandle): void;
  /** Resolves a bounded time after the first signal; never while none came. */
  readonly overdue: Promise<void>;
  /** Stops listening. */
  dispose(): void;
}

/**
 * Listens for SIGINT, SIGTERM and SIGHUP: the first stops the run cleanly, the second ends the process at once, after
 * `killAll`. Source: spec C-8.
 */
export function listenForStop(
  context: Pick<CliContext, 'onSignal' | 'exitNow'>,
  killAll: () => void,
  endWithinMs = END_WITHIN_MS,
): StopSignals {
  const controller = new AbortController();
  let received: StopSignal | undefined;
  let run: RunHandle | undefined;
  let timer: NodeJS.Timeout | undefined;
  const { promise: overdue, resolve: isOverdue } = Promise.withResolvers<void>();

  const listener = (name: StopSignal) => () => {
    if (received !== undefined) {
      killAll();
      context.exitNow(exitCodeOfSignal(received));
      return;
    }
    received = name;
    timer = setTimeout(isOverdue, endWithinMs);
    run?.stop(`${name} was received`);
    controller.abort();
  };
  const removals = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => context.onSignal(name, listener(name)));

  return {
    get received() {
      return received;
    },
    signal: controller.signal,
    overdue,
    watch(handle) {
      run = handle;
      if (received !== undefined) handle.stop(`${received} was received`);
    },
    dispose() {
      clearTimeout(timer);
      for (const remove of removals) remove();
    },
  };
}
