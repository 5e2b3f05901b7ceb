import { describe, expect, it } from 'vitest';
import { type ApiFailure, judgeApiFailure } from '../../../agents/api-failure.ts';

const NOW = Date.UTC(2030, 0, 1);

function codeOf(failure: ApiFailure): string {
  const verdict = judgeApiFailure(failure, NOW);
  return verdict.retry ? 'retry' : verdict.error.code;
}

describe('a failure of a model API', () => {
  it.each([
    'You have reached your usage limit. It resets at 2099-01-01T00:00:00Z.',
    "You've hit your session limit · resets 3pm",
    'Spend limit reached; resets on the first of the month',
    'Quota exceeded, resets tomorrow',
    'AI usage limit reached|1893456000',
  ])('is a usage limit when a 429 says "%s" (A-20)', (message) => {
    expect(codeOf({ status: 429, message })).toBe('AGENT_QUOTA');
  });

  it.each([
    "This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
    'Number of requests has exceeded your rate limit; see the headers for current usage.',
    'more than 3 requests at a time',
    'You are over your usage limit of 100 requests per minute.',
  ])('is transient when a 429 says "%s" (A-13)', (message) => {
    expect(codeOf({ status: 429, message })).toBe('retry');
  });

  it('is a limit of the account when the server asks for more than ten minutes (A-20)', () => {
    expect(codeOf({ status: 429, message: 'wait', retryAfterMs: 600_000 })).toBe('retry');
    expect(codeOf({ status: 429, message: 'wait', retryAfterMs: 600_001 })).toBe('AGENT_QUOTA');
  });

  it('is a limit of the account for lack of credit, under whatever status (A-20)', () => {
    expect(codeOf({ status: 402, message: 'pay' })).toBe('AGENT_QUOTA');
    expect(codeOf({ status: 400, message: 'Your credit balance is too low' })).toBe('AGENT_QUOTA');
    expect(codeOf({ status: 429, message: 'stop', cause: 'contract_spend_limit_reached' })).toBe('AGENT_QUOTA');
  });

  it.each([
    ['at 2099-01-01T00:00:00Z', undefined, '2099-01-01T00:00:00.000Z'],
    ['reset|1893456000', undefined, '2030-01-01T00:00:00.000Z'],
    ['reset soon', 3_600_000, '2030-01-01T01:00:00.000Z'],
    ['reset at 2099-99-99T99:99:99Z', undefined, undefined],
    ['reset soon', undefined, undefined],
  ])('tells when the limit resets: "%s", retry after %s (A-20)', (words, retryAfterMs, resetsAt) => {
    const verdict = judgeApiFailure({ status: 429, message: `usage limit, ${words} reset`, retryAfterMs }, NOW);
    expect(verdict.retry ? undefined : verdict.error.data?.resetsAt).toBe(resetsAt);
  });

  it('is final for every other 4xx, 408 and 409 included (A-13)', () => {
    for (const status of [400, 404, 408, 409, 413, 422]) expect(codeOf({ status, message: 'no' })).toBe('AGENT_API');
  });

  it('follows what the server says about trying again', () => {
    expect(codeOf({ status: 529, message: 'no', shouldRetry: false })).toBe('AGENT_API');
    expect(codeOf({ status: 409, message: 'soon', shouldRetry: true })).toBe('retry');
    expect(codeOf({ status: 401, message: 'key', shouldRetry: true })).toBe('AGENT_AUTH');
  });

  it('keeps the words of the server, as one sentence', () => {
    const verdict = judgeApiFailure({ status: 529, type: 'overloaded_error', message: 'Overloaded.' }, NOW);
    expect(verdict).toEqual({
      retry: true,
      failure: { message: 'The API answered 529 (overloaded_error): Overloaded.', status: 529 },
    });
  });
});
