import { describe, expect, it } from 'vitest';
import { judgeCliFailure, judgeCrash } from '../../../../agents/process/cli-failure.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const api = (status: number, type: string, message: string): string =>
  `API Error: ${status} ${JSON.stringify({ type: 'error', error: { type, message }, request_id: 'r' })}`;

describe('what an agent CLI says of a failure', () => {
  it.each([
    ['a status in its words', api(529, 'overloaded_error', 'Overloaded'), undefined, undefined, 'retry'],
    ['a status of its own', 'Something broke', undefined, 503, 'retry'],
    ['a class of error', 'Something broke', 'server_error', undefined, 'retry'],
    ['a lost connection', 'API Error: Connection error.', 'unknown', undefined, 'retry'],
    ['a wait in vain', 'API Error: Request timed out.', 'unknown', undefined, 'retry'],
    ['a bad request', api(400, 'invalid_request_error', 'too long'), undefined, undefined, 'AGENT_API'],
    [
      'a key that is refused',
      api(401, 'authentication_error', 'invalid x-api-key'),
      undefined,
      undefined,
      'AGENT_AUTH',
    ],
    ['no login', 'Invalid API key · Please run /login', undefined, undefined, 'AGENT_AUTH'],
    ['an old login', 'OAuth token has expired. Please obtain a new token', undefined, undefined, 'AGENT_AUTH'],
    ['no login, by its class', 'Sorry', 'authentication_failed', undefined, 'AGENT_AUTH'],
    ['a used-up plan', "You've hit your session limit · resets 3pm", undefined, undefined, 'AGENT_QUOTA'],
    ['a used-up week', 'Weekly limit reached ∙ resets Mon', 'rate_limit', undefined, 'AGENT_QUOTA'],
    [
      'no credit',
      api(400, 'invalid_request_error', 'Your credit balance is too low'),
      undefined,
      undefined,
      'AGENT_QUOTA',
    ],
    ['a passing 429', api(429, 'rate_limit_error', 'Number of requests exceeded'), undefined, undefined, 'retry'],
    ['what nobody knows', 'The moon is full', undefined, undefined, 'AGENT_API'],
  ] as const)('%s is told apart (A-13, A-20, A-26)', (_, text, error, status, wanted) => {
    const verdict = judgeCliFailure({ command: 'some-cli', text, error, status }, NOW);
    expect(verdict.retry ? 'retry' : verdict.error.code).toBe(wanted);
    const words = verdict.retry ? verdict.failure.message : verdict.error.message;
    expect(words).not.toContain('request_id');
    expect(words.length).toBeGreaterThan(10);
  });

  it('is bounded, whatever a command writes (C-10)', () => {
    const verdict = judgeCliFailure(
      { command: 'some-cli', text: `API Error: 400 ${'x'.repeat(100_000)}`, error: undefined, status: undefined },
      NOW,
    );
    expect(verdict.retry ? '' : verdict.error.message.length).toBeLessThan(3_000);
  });
});

describe('the end of an agent CLI before its result', () => {
  const end = { code: 1, signal: null, lastWords: '' } as const;

  it.each([
    ['words about a login', { ...end, lastWords: 'Not logged in · Please run /login' }, 'AGENT_AUTH'],
    ['an option it does not know', { ...end, lastWords: "error: unknown option '--verbose'" }, 'AGENT_API'],
    ['silence', end, 'AGENT_API'],
    ['a signal', { ...end, code: null, signal: 'SIGKILL' }, 'retry'],
    [
      'no start',
      { ...end, code: null, failure: Object.assign(new Error('spawn E2BIG'), { code: 'E2BIG' }) },
      'AGENT_API',
    ],
  ] as const)('with %s is judged (A-3, A-13, A-26)', (_, ended, wanted) => {
    const verdict = judgeCrash('some-cli', ended, NOW);
    expect(verdict.retry ? 'retry' : verdict.error.code).toBe(wanted);
  });
});
