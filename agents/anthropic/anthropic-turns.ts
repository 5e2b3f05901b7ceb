import type Anthropic from '@anthropic-ai/sdk';
import type { Stream } from '@anthropic-ai/sdk/core/streaming';
import type { AgentReporter, Clock } from '../../runtime/ports.ts';
import { abortError } from '../abort.ts';
import { judgeApiFailure } from '../api-failure.ts';
import type { ConversationMessage, ModelTurns, Turn } from '../model-turns.ts';
import { BrokenStreamError, MessageReader } from './message-reader.ts';
import type { PrefixWarmth, Warmed } from './prefix-warmth.ts';
import { cachedPrefix, type RequestFrame, requestBody } from './request-body.ts';
import { sdkFailure } from './sdk-failure.ts';

/** What all agents of a backend share. */
export interface AnthropicLine {
  readonly client: Anthropic;
  readonly stream: typeof Stream;
  readonly baseUrl: string;
  readonly clock: Clock;
  /** Which prefixes the API has in its cache. */
  readonly warmth: PrefixWarmth;
}

/** An event of the Messages API's stream. */
export type StreamEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/** Told of signs of life, and what a request had used that was aborted. */
export type LineReporter = Pick<AgentReporter, 'alive'> & Partial<Pick<AgentReporter, 'usage'>>;

/** One agent's line to the Messages API: one streamed request a turn, sent once. */
export class AnthropicTurns implements ModelTurns {
  readonly #line: AnthropicLine;
  readonly #frame: RequestFrame;
  readonly #signal: AbortSignal;
  readonly #report: LineReporter;
  readonly #onEvent: ((event: StreamEvent) => void) | undefined;

  /** @param onEvent sees each event of the stream that was understood */
  constructor(
    line: AnthropicLine,
    frame: RequestFrame,
    signal: AbortSignal,
    report: LineReporter,
    onEvent?: (event: StreamEvent) => void,
  ) {
    this.#line = line;
    this.#frame = frame;
    this.#signal = signal;
    this.#report = report;
    this.#onEvent = onEvent;
  }

  async send(history: readonly ConversationMessage[]): Promise<Turn> {
    // One controller a request: the SDK leaves its listener on the signal it is given.
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    this.#signal.addEventListener('abort', abort, { once: true });
    try {
      return await this.#request(history, controller);
    } catch (error) {
      if (this.#signal.aborted) throw abortError(this.#signal);
      return this.#failed(error);
    } finally {
      this.#signal.removeEventListener('abort', abort);
    }
  }

  /** The first request of like agents that start at once goes before the others, to have their prefix cached. */
  async #request(history: readonly ConversationMessage[], controller: AbortController): Promise<Turn> {
    const prefix = history.length === 1 ? cachedPrefix(this.#frame) : '';
    const warmed = await this.#line.warmth.turnOf(prefix, this.#signal);
    try {
      return await this.#stream(history, controller, warmed);
    } finally {
      warmed(false);
    }
  }

  async #stream(history: readonly ConversationMessage[], controller: AbortController, warmed: Warmed): Promise<Turn> {
    const { client, stream } = this.#line;
    const response = await client.messages
      .create(requestBody(this.#frame, history), { signal: controller.signal })
      .asResponse();
    this.#report.alive();
    const reader = new MessageReader();
    let began = false;
    try {
      // Raw events, since the SDK's own iteration hides the pings that show a live connection.
      for await (const { event, data } of stream.rawEvents(response, controller)) {
        this.#report.alive();
        reader.take(event, data);
        if (!began) warmed(true);
        began = true;
        if (this.#onEvent !== undefined && event !== null && event !== 'ping') this.#onEvent(JSON.parse(data));
      }
    } catch (error) {
      // What was sent is paid, although nobody waits for the answer any more.
      if (!reader.done && this.#signal.aborted) this.#report.usage?.(reader.usage, this.#frame.model);
      if (!reader.done) throw error;
    }
    if (!reader.done) throw new BrokenStreamError('it ended without message_stop');
    const { blocks, stopReason, usage, refusal } = reader;
    const { model } = this.#frame;
    return { type: 'message', blocks, stopReason, usage, model, ...(refusal === undefined ? {} : { refusal }) };
  }

  #failed(error: unknown): Turn {
    const { baseUrl, clock } = this.#line;
    const failure = sdkFailure(error, baseUrl, clock.now());
    if (failure === 'no-api-failure') throw error;
    const verdict = judgeApiFailure(failure, clock.now());
    if (!verdict.retry) throw verdict.error;
    return { type: 'transient', failure: verdict.failure };
  }
}
