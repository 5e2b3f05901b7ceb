import { ERROR_CODES, type ErrorCode } from '../../protocol/error-codes.ts';
import { NO_AGENTS, NO_USAGE } from '../../protocol/nothing-used.ts';
import type { RunOutput } from '../../protocol/run-record.ts';
import type { ErrorRecord } from '../../protocol/workflow-error.ts';

/** The object of `--output-format json` for a run that never began, or of which no more is known. Source: spec C-6. */
export function refusedOutput(
  error: ErrorRecord,
  known: { readonly status?: 'failed' | 'killed'; readonly runId?: string; readonly resume?: string } = {},
): RunOutput {
  const isLimit = error.code in ERROR_CODES && ERROR_CODES[error.code as ErrorCode].kind === 'limit';
  return {
    status: known.status ?? 'failed',
    ...(known.runId === undefined ? {} : { runId: known.runId }),
    error: { ...error },
    usage: NO_USAGE,
    census: NO_AGENTS,
    failures: [],
    logs: [],
    limits_hit: isLimit ? [error.code] : [],
    ...(known.resume === undefined ? {} : { resume: known.resume }),
  };
}
