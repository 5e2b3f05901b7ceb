import type Anthropic from '@anthropic-ai/sdk';
import type { AgentUsage } from '../../runtime/ports.ts';
import type { AssistantBlock } from '../model-turns.ts';

/** The stream broke: it ended early, or what came is no stream of events. */
export class BrokenStreamError extends Error {}

/** The server reported an error inside a stream that began well. */
export class StreamedApiError extends Error {
  readonly type: string | undefined;

  constructor(type: string | undefined, message: string) {
    super(message);
    this.type = type;
  }
}

type OpenBlock =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; rawInput: string }
  | { readonly type: 'opaque'; readonly block: Record<string, unknown> };

/**
 * Puts one message together from its server-sent events.
 *
 * The input of a tool call is kept as the raw text that came, since whatever is wrong with it has to be told at its
 * offset.
 */
export class MessageReader {
  /** True once `message_stop` came: the message is whole. */
  done = false;
  stopReason: string | null = null;
  refusal: string | undefined;
  readonly #blocks: (OpenBlock | undefined)[] = [];
  #inputTokens = 0;
  #outputTokens = 0;

  /** @throws BrokenStreamError, StreamedApiError */
  take(name: string | null, data: string): void {
    if (name === null || name === 'ping' || data === '') return;
    const event = parseEvent(data);
    switch (event.type) {
      case 'message_start':
        this.#countInput(event.message.usage);
        this.#outputTokens = event.message.usage.output_tokens;
        return;
      case 'content_block_start':
        this.#blocks[event.index] = openBlock(event.content_block);
        return;
      case 'content_block_delta':
        this.#extend(event.index, event.delta);
        return;
      case 'message_delta':
        this.stopReason = event.delta.stop_reason;
        this.refusal = event.delta.stop_details?.explanation ?? event.delta.stop_details?.category ?? undefined;
        this.#outputTokens = event.usage.output_tokens;
        return;
      case 'message_stop':
        this.done = true;
        return;
      case 'error':
        throw new StreamedApiError(event.error?.type, event.error?.message ?? data);
      default:
        return;
    }
  }

  get usage(): AgentUsage {
    return { inputTokens: this.#inputTokens, outputTokens: this.#outputTokens };
  }

  get blocks(): readonly AssistantBlock[] {
    return this.#blocks
      .filter((block) => block !== undefined)
      .map((block) => (block.type === 'tool_use' && block.rawInput === '' ? { ...block, rawInput: '{}' } : block));
  }

  #countInput(usage: Anthropic.Usage): void {
    this.#inputTokens =
      usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0);
  }

  #extend(index: number, delta: Anthropic.RawContentBlockDelta): void {
    const block = this.#blocks[index];
    if (block === undefined) throw new BrokenStreamError('a piece of a block came before its start');
    if (delta.type === 'text_delta' && block.type === 'text') block.text += delta.text;
    else if (delta.type === 'input_json_delta' && block.type === 'tool_use') block.rawInput += delta.partial_json;
    else if (block.type === 'opaque') extendOpaque(block.block, delta);
  }
}

type StreamEvent = Anthropic.RawMessageStreamEvent | { readonly type: 'error'; readonly error?: ErrorBody };

interface ErrorBody {
  readonly type?: string;
  readonly message?: string;
}

function parseEvent(data: string): StreamEvent {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch {
    throw new BrokenStreamError('an event holds broken JSON');
  }
  if (typeof event !== 'object' || event === null) throw new BrokenStreamError('an event is no object');
  return event as StreamEvent;
}

function openBlock(block: Anthropic.ContentBlock): OpenBlock {
  if (block.type === 'text') return { type: 'text', text: block.text };
  if (block.type === 'tool_use') return { type: 'tool_use', id: block.id, name: block.name, rawInput: '' };
  return { type: 'opaque', block: { ...block } };
}

function extendOpaque(block: Record<string, unknown>, delta: Anthropic.RawContentBlockDelta): void {
  if (delta.type === 'thinking_delta') block.thinking = `${block.thinking ?? ''}${delta.thinking}`;
  else if (delta.type === 'signature_delta') block.signature = `${block.signature ?? ''}${delta.signature}`;
}
