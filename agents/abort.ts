import { isWorkflowError, WorkflowError } from '../protocol/workflow-error.ts';

/** Gives the error an aborted agent ends with: the reason of its signal, or `RUN_CANCELLED`. */
export function abortError(signal: AbortSignal): WorkflowError {
  if (isWorkflowError(signal.reason)) return signal.reason;
  return new WorkflowError('RUN_CANCELLED', 'The agent was stopped before it answered.');
}

/** @throws the error of {@link abortError} when the signal has aborted */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortError(signal);
}

/** Settles as `work` does, or rejects at once when the signal aborts. The work itself is not stopped. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(abortError(signal));
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortError(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
