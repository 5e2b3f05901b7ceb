import { describe, expect, it } from 'vitest';
import { createAnthropicBackend } from '../../agents/anthropic/anthropic-backend.ts';
import { runWorkflow } from '../../runtime/run-workflow.ts';
import { startFakeApi } from '../support/fake-messages-api.mjs';
import { temporaryStore } from '../support/temporary-store.ts';

const store = temporaryStore();
const SCRIPT = `export const meta = { name: 'storm', description: '98 agents meet a server that refuses' }
const rows = Array.from({ length: 14 }, (_, i) => i)
return await parallel(rows.map((i) => () => parallel(Array.from({ length: 7 }, (_, k) => () => agent('STORM ' + i + '/' + k)))))`;
const CALLS = 98;
const CONCURRENCY = 8;

async function storm(error: object, maxRetries: number) {
  const api = await startFakeApi({ rules: { default: [{ error }] } });
  const backend = createAnthropicBackend({ apiKey: 'loopback', baseUrl: api.url });
  try {
    const ended = await runWorkflow({
      store,
      backend,
      script: SCRIPT,
      concurrency: CONCURRENCY,
      limits: { maxRetries },
    });
    return { requests: api.stats.requests, output: ended.output };
  } finally {
    await backend.close();
    await api.close();
  }
}

describe('98 agents that the server refuses', () => {
  it.each([
    [429, 'rate_limit_error'],
    [529, 'overloaded_error'],
    [500, 'api_error'],
  ])('make at most 98 × (1 + retries) requests when it answers %i (A-13)', async (status, type) => {
    const { requests, output } = await storm({ status, type, message: 'not now', retryAfterMs: 2 }, 2);
    expect(requests).toBeGreaterThanOrEqual(CALLS);
    expect(requests).toBeLessThanOrEqual(CALLS * 3);
    expect(output).toMatchObject({ status: 'completed', census: { agents_error: CALLS } });
  });

  it('are each sent once when the error is their own (A-13)', async () => {
    const { requests } = await storm({ status: 400, type: 'invalid_request_error', message: 'bad' }, 5);
    expect(requests).toBe(CALLS);
  });

  it.each([
    ['a wrong key', { status: 401, type: 'authentication_error', message: 'invalid x-api-key' }, 'AGENT_AUTH'],
    [
      'a usage limit',
      {
        status: 429,
        type: 'rate_limit_error',
        message: 'You have reached your usage limit. It resets at 2099-01-01T00:00:00Z.',
        retryAfterMs: 18_000_000,
      },
      'AGENT_QUOTA',
    ],
  ])('stop at the first answer that no retry mends: %s (A-20)', async (_what, error, code) => {
    const { requests, output } = await storm(error, 5);
    expect(requests).toBeLessThanOrEqual(CONCURRENCY);
    expect(output).toMatchObject({ status: 'failed', error: { code } });
  });
});
