import { ERROR_CODES, type ErrorCode } from '../protocol/error-codes.ts';
import type { StopSignal } from './cli-context.ts';

/** Exit code of a process that a signal stopped. SIGHUP counts as SIGTERM: the terminal went away. Source: spec C-7. */
export function exitCodeOfSignal(signal: StopSignal): number {
  return signal === 'SIGINT' ? 130 : 143;
}

/** Exit code for an error by its code; one that is not ours is a fault of ours. */
export function exitCodeOfError(code: string): number {
  return code in ERROR_CODES ? ERROR_CODES[code as ErrorCode].exit : ERROR_CODES.INTERNAL_INVARIANT.exit;
}

/** Exit code of a finished run. `signal` is what stopped it, where a signal did. */
export function exitCodeOfRun(
  run: { readonly status: 'completed' | 'failed' | 'killed'; readonly error?: { readonly code: string } | undefined },
  signal: StopSignal | undefined,
): number {
  switch (run.status) {
    case 'completed':
      return 0;
    case 'killed':
      if (signal !== undefined) return exitCodeOfSignal(signal);
      return exitCodeOfError(run.error?.code ?? 'RUN_CANCELLED');
    case 'failed':
      return exitCodeOfError(run.error?.code ?? 'SCRIPT_THREW');
  }
}
