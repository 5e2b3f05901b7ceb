import { tokenCount } from '../../protocol/token-count.ts';
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

/** Characters of events that one message may have; an answer has at most 16 MiB. */
const MAX_MESSAGE_CHARACTERS = 64 * 1024 * 1024;

type OpenBlock =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; rawInput: string }
  | { readonly type: 'opaque'; readonly block: Record<string, unknown> };

/** Something a server sent: it may have any shape. */
type Sent = Readonly<Record<string, unknown>>;

/**
 * Puts one message together from its server-sent events.
 *
 * The input of a tool call is kept as the raw text that came, since whatever is wrong with it has to be told at its
 * offset.
 *
 * Contract: the shape of no event is trusted. One that cannot be told from others breaks the stream; what is missing beside
 * the answer, such as a usage, counts as nothing.
 */
export class MessageReader {
  /** True once `message_stop` came: the message is whole, and what comes after it is none of it. */
  done = false;
  stopReason: string | null = null;
  refusal: string | undefined;
  /** By their index. */
  readonly #blocks = new Map<number, OpenBlock>();
  #characters = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #cacheReadTokens = 0;
  #cacheWriteTokens = 0;

  /** @throws BrokenStreamError, StreamedApiError */
  take(name: string | null, data: string): void {
    if (this.done || name === null || name === 'ping' || data === '') return;
    this.#characters += data.length;
    if (this.#characters > MAX_MESSAGE_CHARACTERS) throw new BrokenStreamError('the message is over 64 MiB');
    const event = parseEvent(data);
    switch (event.type) {
      case 'message_start':
        this.#start(sentIn(event.message).usage);
        return;
      case 'content_block_start':
        this.#blocks.set(indexOf(event), openBlock(sentIn(event.content_block)));
        return;
      case 'content_block_delta':
        this.#extend(indexOf(event), sentIn(event.delta));
        return;
      case 'message_delta':
        this.#finish(sentIn(event.delta), sentIn(event.usage));
        return;
      case 'message_stop':
        this.done = true;
        return;
      case 'error':
        throw streamedError(sentIn(event.error), data);
      default:
        return;
    }
  }

  get usage(): AgentUsage {
    return {
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      ...(this.#cacheReadTokens === 0 ? {} : { cacheReadTokens: this.#cacheReadTokens }),
      ...(this.#cacheWriteTokens === 0 ? {} : { cacheWriteTokens: this.#cacheWriteTokens }),
    };
  }

  get blocks(): readonly AssistantBlock[] {
    return [...this.#blocks]
      .sort(([left], [right]) => left - right)
      .map(([, block]) => (block.type === 'tool_use' && block.rawInput === '' ? { ...block, rawInput: '{}' } : block));
  }

  #start(told: unknown): void {
    const usage = sentIn(told);
    this.#cacheReadTokens = tokenCount(usage.cache_read_input_tokens);
    this.#cacheWriteTokens = tokenCount(usage.cache_creation_input_tokens);
    this.#inputTokens = tokenCount(usage.input_tokens) + this.#cacheWriteTokens + this.#cacheReadTokens;
    this.#outputTokens = tokenCount(usage.output_tokens);
  }

  #finish(delta: Sent, usage: Sent): void {
    this.stopReason = textIn(delta.stop_reason) ?? null;
    const details = sentIn(delta.stop_details);
    this.refusal = textIn(details.explanation) ?? textIn(details.category);
    if (usage.output_tokens !== undefined) this.#outputTokens = tokenCount(usage.output_tokens);
  }

  #extend(index: number, delta: Sent): void {
    const block = this.#blocks.get(index);
    if (block === undefined) throw new BrokenStreamError('a piece of a block came before its start');
    if (block.type === 'opaque') extendOpaque(block.block, delta);
    else if (delta.type === 'text_delta' && block.type === 'text') block.text += pieceOf(delta.text);
    else if (delta.type === 'input_json_delta' && block.type === 'tool_use')
      block.rawInput += pieceOf(delta.partial_json);
  }
}

function parseEvent(data: string): Sent {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch {
    throw new BrokenStreamError('an event holds broken JSON');
  }
  if (typeof event !== 'object' || event === null) throw new BrokenStreamError('an event is no object');
  return event as Sent;
}

function indexOf({ index }: Sent): number {
  if (!Number.isSafeInteger(index)) throw new BrokenStreamError('a block has no number');
  return index as number;
}

function openBlock(block: Sent): OpenBlock {
  const { type, id, name } = block;
  if (typeof type !== 'string') throw new BrokenStreamError('a block has no type');
  if (type === 'text') return { type, text: textIn(block.text) ?? '' };
  if (type !== 'tool_use') return { type: 'opaque', block: { ...block } };
  if (typeof id !== 'string' || typeof name !== 'string')
    throw new BrokenStreamError('a tool call has no id or no name');
  return { type, id, name, rawInput: '' };
}

function pieceOf(piece: unknown): string {
  if (typeof piece !== 'string') throw new BrokenStreamError('a piece of a block is no text');
  return piece;
}

function extendOpaque(block: Record<string, unknown>, delta: Sent): void {
  if (delta.type === 'thinking_delta') block.thinking = `${block.thinking ?? ''}${delta.thinking}`;
  else if (delta.type === 'signature_delta') block.signature = `${block.signature ?? ''}${delta.signature}`;
}

function streamedError(error: Sent, data: string): StreamedApiError {
  return new StreamedApiError(textIn(error.type), textIn(error.message) ?? data);
}

function sentIn(value: unknown): Sent {
  return typeof value === 'object' && value !== null ? (value as Sent) : {};
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
