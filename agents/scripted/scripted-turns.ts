import type { ResponseBlock, ResponseTurn } from '../../protocol/responses-file.ts';
import type { AgentUsage, Clock, OutputContract } from '../../runtime/ports.ts';
import { abortError } from '../abort.ts';
import { judgeApiFailure } from '../api-failure.ts';
import { type AssistantBlock, type ModelTurns, STRUCTURED_OUTPUT, type Turn } from '../model-turns.ts';
import type { PlannedReply } from './response-book.ts';

const DEFAULT_USAGE: AgentUsage = { inputTokens: 100, outputTokens: 10 };

/** What a failed request says when the file gives no words. */
const CUT_FAILURE: Turn = {
  type: 'transient',
  failure: { message: 'The planned answer broke off without message_stop.' },
};

/**
 * One agent's planned answers, given as a model API would give them: an error or a cut uses a turn up, and the next
 * request gets the one after it. Answers without a delay come without a promise.
 */
export class ScriptedTurns implements ModelTurns {
  readonly #reply: PlannedReply;
  readonly #output: OutputContract | undefined;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  #calls = 0;

  constructor(reply: PlannedReply, output: OutputContract | undefined, signal: AbortSignal, clock: Clock) {
    this.#reply = reply;
    this.#output = output;
    this.#signal = signal;
    this.#clock = clock;
  }

  send(): Turn | Promise<Turn> {
    const turn = this.#next();
    if (turn.delayMs === undefined && turn.silentMs === undefined) return this.#answer(turn);
    return this.#answerLater(turn);
  }

  #next(): ResponseTurn {
    const { turns, used } = this.#reply;
    this.#reply.used = used + 1;
    return turns[Math.min(used, turns.length - 1)] as ResponseTurn;
  }

  async #answerLater(first: ResponseTurn): Promise<Turn> {
    let turn = first;
    for (;;) {
      if (turn.delayMs !== undefined) await this.#wait(turn.delayMs);
      if (turn.silentMs === undefined) return this.#answer(turn);
      await this.#wait(turn.silentMs);
      turn = this.#next();
    }
  }

  #wait(delayMs: number): Promise<void> {
    const signal = this.#signal;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortError(signal));
        return;
      }
      const onAbort = (): void => {
        timer.cancel();
        reject(abortError(signal));
      };
      const timer = this.#clock.after(delayMs, () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #answer(turn: ResponseTurn): Turn {
    if (turn.error !== undefined) return this.#fail(turn.error);
    if (turn.cut !== undefined) return CUT_FAILURE;
    const blocks = turn.blocks === undefined ? [this.#block(turn)] : turn.blocks.map((block) => this.#block(block));
    const calls = blocks.some((block) => block.type === 'tool_use');
    return {
      type: 'message',
      blocks,
      stopReason: turn.stop ?? (calls ? 'tool_use' : 'end_turn'),
      usage: usageOf(turn.usage),
    };
  }

  #fail({ status, type, message, retryAfterMs }: NonNullable<ResponseTurn['error']>): Turn {
    const failure = { status, type, message: message ?? `planned failure ${status}`, retryAfterMs };
    const verdict = judgeApiFailure(failure, this.#clock.now());
    if (!verdict.retry) throw verdict.error;
    return { type: 'transient', failure: verdict.failure };
  }

  #block(block: ResponseTurn | ResponseBlock): AssistantBlock {
    if (block.tool !== undefined) return this.#call(block.tool.name, JSON.stringify(block.tool.input ?? {}));
    if (block.raw !== undefined) return this.#call(STRUCTURED_OUTPUT, block.raw);
    if (block.text !== undefined) return { type: 'text', text: block.text };
    if (this.#output === undefined) return { type: 'text', text: JSON.stringify(block.json) };
    return this.#call(STRUCTURED_OUTPUT, this.#wireJson(block.json, this.#output.wrapped));
  }

  /** A planned `json` is the answer as the script sees it; on the wire a root that is no object is wrapped. */
  #wireJson(json: unknown, wrapped: boolean): string {
    return JSON.stringify(wrapped && !isWrapper(json) ? { value: json } : json);
  }

  #call(name: string, rawInput: string): AssistantBlock {
    this.#calls += 1;
    return { type: 'tool_use', id: `toolu_${this.#calls}`, name, rawInput };
  }
}

function isWrapper(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'value' in json && Object.keys(json).length === 1;
}

function usageOf(usage: ResponseTurn['usage']): AgentUsage {
  if (usage === undefined) return DEFAULT_USAGE;
  return {
    inputTokens: usage.input_tokens ?? DEFAULT_USAGE.inputTokens,
    outputTokens: usage.output_tokens ?? DEFAULT_USAGE.outputTokens,
  };
}
