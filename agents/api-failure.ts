import { WorkflowError } from '../protocol/workflow-error.ts';
import type { TransientFailure } from '../runtime/ports.ts';

/** An error as an HTTP model API reported it. */
export interface ApiFailure {
  /** HTTP status; undefined when the error came without one. */
  readonly status: number | undefined;
  /** The provider's class of error, for example `overloaded_error`. */
  readonly type?: string | undefined;
  /** The server's own words. */
  readonly message: string;
  /** The provider's stable name of the cause, for example `contract_spend_limit_reached`. */
  readonly cause?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** What the server itself says about trying again (`x-should-retry`). */
  readonly shouldRetry?: boolean | undefined;
}

/** What to do about an {@link ApiFailure}: try again, or end with the error. */
export type FailureVerdict =
  | { readonly retry: true; readonly failure: TransientFailure }
  | { readonly retry: false; readonly error: WorkflowError };

/** A wait that no agent should sit out. Source: spec A-20. */
const LONGEST_WAIT_MS = 10 * 60_000;
const USAGE_LIMIT = /\b(?:usage|session|spend(?:ing)?|weekly|monthly|daily usage)[ -]+(?:limit|cap)|\bquota\b/i;
const RESET = /\breset|\|\d{10}\b/i;
const BILLING = /\bcredit balance\b|\bbilling\b/i;
const BILLING_CAUSE = /spend_limit|billing/;

/**
 * Judges an error of a model API: transient ones are worth the same request again, credentials and account
 * limits stop the run, everything else ends this one agent.
 */
export function judgeApiFailure(failure: ApiFailure, nowMs: number): FailureVerdict {
  const { status, retryAfterMs } = failure;
  if (status === 401 || status === 403) return { retry: false, error: authError(failure) };
  if (meansQuota(failure)) return { retry: false, error: quotaError(failure, nowMs) };
  if (isTransient(failure)) {
    return {
      retry: true,
      failure: {
        message: `${told(failure)}.`,
        ...(status === undefined ? {} : { status }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
    };
  }
  const error = new WorkflowError('AGENT_API', `${told(failure)}. The same request would fail again.`, {
    data: facts(failure),
  });
  return { retry: false, error };
}

function isTransient({ status, shouldRetry }: ApiFailure): boolean {
  if (shouldRetry !== undefined) return shouldRetry;
  return status === 429 || (status !== undefined && status >= 500);
}

function meansQuota({ status, type, message, cause, retryAfterMs }: ApiFailure): boolean {
  if (status === 402 || type === 'billing_error' || (cause !== undefined && BILLING_CAUSE.test(cause))) return true;
  if (status === 400) return BILLING.test(message);
  if (status !== 429) return false;
  return (retryAfterMs ?? 0) > LONGEST_WAIT_MS || (USAGE_LIMIT.test(message) && RESET.test(message));
}

function authError(failure: ApiFailure): WorkflowError {
  return new WorkflowError('AGENT_AUTH', `${told(failure)}. Check the API key and what it may use.`, {
    data: facts(failure),
  });
}

function quotaError(failure: ApiFailure, nowMs: number): WorkflowError {
  const resetsAt = resetTime(failure, nowMs);
  const when = resetsAt === undefined ? 'Go on once the limit is lifted' : `The limit resets at ${resetsAt}`;
  return new WorkflowError('AGENT_QUOTA', `The account's limit is reached. ${told(failure)}. ${when}.`, {
    data: { ...facts(failure), ...(resetsAt === undefined ? {} : { resetsAt }) },
  });
}

/** ISO time of the reset, from the message or else from `retry-after`. */
function resetTime({ message, retryAfterMs }: ApiFailure, nowMs: number): string | undefined {
  const named = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/.exec(message)?.[0];
  if (named !== undefined) return isoTime(Date.parse(named));
  const epochSeconds = /\|(\d{10})\b/.exec(message)?.[1];
  if (epochSeconds !== undefined) return isoTime(Number(epochSeconds) * 1000);
  return retryAfterMs === undefined ? undefined : isoTime(nowMs + retryAfterMs);
}

function isoTime(epochMs: number): string | undefined {
  const date = new Date(epochMs);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function told({ status, type, message }: ApiFailure): string {
  const words = message.trim().replace(/\.+$/, '') || 'no reason given';
  const kind = type === undefined ? '' : ` (${type})`;
  return status === undefined ? `The API failed${kind}: ${words}` : `The API answered ${status}${kind}: ${words}`;
}

function facts({ status, retryAfterMs }: ApiFailure): Record<string, unknown> {
  return {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
