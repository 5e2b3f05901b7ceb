import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { Clock } from '../../runtime/ports.ts';
import { wallClock } from '../wall-clock.ts';
import type { AnthropicLine } from './anthropic-turns.ts';
import { PrefixWarmth } from './prefix-warmth.ts';

/** Where the Messages API is, and who asks. */
export interface AnthropicAccess {
  /** Sent as `x-api-key`. Without it and without {@link authToken} every agent ends with `AGENT_AUTH`. */
  readonly apiKey?: string | undefined;
  /** Sent as a bearer token; used when there is no {@link apiKey}. */
  readonly authToken?: string | undefined;
  /** @defaultValue https://api.anthropic.com */
  readonly baseUrl?: string | undefined;
  readonly clock?: Clock | undefined;
}

const DEFAULT_BASE_URL = 'https://api.anthropic.com';

/** Loads the SDK and makes a client. @throws WorkflowError `AGENT_AUTH` without a key */
export async function openLine({ apiKey, authToken, ...access }: AnthropicAccess): Promise<AnthropicLine> {
  if (!apiKey && !authToken) {
    throw new WorkflowError(
      'AGENT_AUTH',
      'There is no API key for the anthropic backend. Set ANTHROPIC_API_KEY, or choose another backend with --backend.',
    );
  }
  const [{ Anthropic }, { Stream }] = await Promise.all([
    import('@anthropic-ai/sdk'),
    import('@anthropic-ai/sdk/core/streaming'),
  ]);
  const baseUrl = (access.baseUrl ?? DEFAULT_BASE_URL).replace(/\/+$/, '');
  const client = new Anthropic({
    ...(apiKey ? { apiKey } : { authToken: authToken ?? null }),
    baseURL: baseUrl,
    maxRetries: 0,
    // Its log goes to stdout at some levels, and could hold what a prompt says.
    logLevel: 'off',
  });
  const clock = access.clock ?? wallClock;
  return { client, stream: Stream, baseUrl, clock, warmth: new PrefixWarmth(clock) };
}
