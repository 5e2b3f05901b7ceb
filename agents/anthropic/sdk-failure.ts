import type { APIError } from '@anthropic-ai/sdk';
import type { ApiFailure } from '../api-failure.ts';
import { BrokenStreamError, StreamedApiError } from './message-reader.ts';

/** Statuses of the errors that a stream reports by their type alone. Source: the error list of the Messages API. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/**
 * Describes what the SDK threw; undefined when it is no failure of the API or of the way to it.
 *
 * @param baseUrl address of the API, named when there is no connection to it
 */
export function sdkFailure(error: unknown, baseUrl: string, nowMs: number): ApiFailure | 'no-api-failure' {
  if (error instanceof StreamedApiError) {
    return { status: STATUS_OF_TYPE[error.type ?? ''], type: error.type, message: error.message };
  }
  if (error instanceof BrokenStreamError) return lost(`the answer from ${baseUrl} broke off: ${error.message}`);
  if (!(error instanceof Error)) return 'no-api-failure';
  if (hasStatus(error)) return statusFailure(error, nowMs);
  const code = systemCode(error);
  if (isConnectionError(error)) return lost(`no connection to ${baseUrl} (${code ?? error.message})`);
  // What undici throws when a body is cut off.
  if (error instanceof TypeError && error.message === 'terminated') {
    return lost(`the connection to ${baseUrl} was lost during an answer (${code ?? 'closed'})`);
  }
  return 'no-api-failure';
}

function lost(message: string): ApiFailure {
  return { status: undefined, message, shouldRetry: true };
}

function hasStatus(error: Error): error is APIError<number, Headers> {
  return 'status' in error && typeof error.status === 'number';
}

function isConnectionError(error: Error): boolean {
  return error.constructor.name.startsWith('APIConnection');
}

function statusFailure(error: APIError<number, Headers>, nowMs: number): ApiFailure {
  const { headers } = error;
  const shouldRetry = headers?.get('x-should-retry');
  return {
    status: error.status,
    type: error.type ?? undefined,
    message: error.apiMessage ?? error.message,
    cause: error.errorCode ?? undefined,
    retryAfterMs: retryAfterMs(headers, nowMs),
    shouldRetry: shouldRetry === 'true' ? true : shouldRetry === 'false' ? false : undefined,
  };
}

/** Reads `retry-after-ms`, else `retry-after` in seconds or as a date (RFC 9110, 10.2.3). */
function retryAfterMs(headers: Headers | undefined, nowMs: number): number | undefined {
  const milliseconds = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (milliseconds >= 0) return milliseconds;
  const text = headers?.get('retry-after') ?? '';
  const seconds = Number.parseFloat(text);
  if (seconds >= 0) return seconds * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** The code of the system error at the bottom of a chain of causes, for example `ECONNREFUSED`. */
function systemCode(error: Error): string | undefined {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  }
  return undefined;
}
