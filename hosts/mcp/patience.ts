import type { ToolCallContext } from './mcp-tool.ts';

const PROGRESS_EVERY_MS = 5_000;
const LEAST_BETWEEN_MS = 250;

export interface Patience {
  /** How long to wait at most. */
  readonly seconds: number;
  /** What is told to a client that waits. */
  readonly describe: () => string;
  /** Calls back when there is something new to tell; gives what takes that back. */
  readonly listen?: (listener: () => void) => () => void;
}

/**
 * Waits for `work`, and tells a client that waits how far it is: when that changes, and every few seconds. The signal of the
 * work aborts after so many seconds, or when the client cancels.
 */
export async function patiently<T>(
  { seconds, describe, listen }: Patience,
  { signal, progress }: ToolCallContext,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const startedAtMs = performance.now();
  let toldAtMs = startedAtMs;
  const tell = (): void => {
    toldAtMs = performance.now();
    clearTimeout(soon);
    soon = undefined;
    progress(Math.round(toldAtMs - startedAtMs) / 1000, undefined, describe());
  };
  let soon: NodeJS.Timeout | undefined;
  const unlisten = listen?.(() => {
    const early = LEAST_BETWEEN_MS - (performance.now() - toldAtMs);
    if (early <= 0) tell();
    else soon ??= setTimeout(tell, early);
  });
  const limit = setTimeout(end, seconds * 1000);
  const beat = setInterval(tell, PROGRESS_EVERY_MS);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    return await work(ending.signal);
  } finally {
    clearTimeout(limit);
    clearInterval(beat);
    unlisten?.();
    clearTimeout(soon);
    signal.removeEventListener('abort', end);
  }
}
