import type { ToolCallContext } from './mcp-tool.ts';

const PROGRESS_EVERY_MS = 5_000;

/**
 * Waits for `work`, and tells a client that waits so every few seconds. Its signal aborts after so many seconds, or when the
 * client cancels.
 */
export async function patiently<T>(
  seconds: number,
  { signal, progress }: ToolCallContext,
  message: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const limit = setTimeout(end, seconds * 1000);
  let beats = 0;
  const beat = setInterval(() => {
    beats += 1;
    progress(beats, undefined, message);
  }, PROGRESS_EVERY_MS);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    return await work(ending.signal);
  } finally {
    clearTimeout(limit);
    clearInterval(beat);
    signal.removeEventListener('abort', end);
  }
}
