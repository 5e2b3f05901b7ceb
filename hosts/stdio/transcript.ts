import type { AssistantBlock, ConversationMessage } from '../../agents/model-turns.ts';

/** Stores messages; see `cache/session-file.ts`. */
export interface TranscriptStore {
  readonly messages: readonly ConversationMessage[];
  append(messages: readonly ConversationMessage[]): Promise<void>;
}

/**
 * What was said in a session, in memory and on disk.
 *
 * Contract: it is always one that a model can be asked with: every tool call has its result. So a message with tool calls
 * is kept back until its results are there, and what a process left behind that died in between is mended.
 */
export class Transcript {
  readonly #messages: ConversationMessage[];
  readonly #store: TranscriptStore;
  readonly #onFailure: (error: unknown) => void;
  #stored: Promise<void> = Promise.resolve();
  /** Said to the model with the next message. */
  #notes: string[] = [];

  constructor(store: TranscriptStore, onFailure: (error: unknown) => void) {
    this.#store = store;
    this.#onFailure = onFailure;
    this.#messages = withoutOpenCalls(store.messages);
  }

  get messages(): readonly ConversationMessage[] {
    return this.#messages;
  }

  /** Keeps a text that nobody answers now. */
  note(text: string): void {
    this.#notes.push(text);
  }

  /** Adds a text of the client's, behind the notes that wait. */
  user(text: string): void {
    const whole = [...this.#notes, text].filter((part) => part.trim() !== '').join('\n\n');
    this.#notes = [];
    this.add({ role: 'user', text: whole });
  }

  /** Adds messages that belong together. */
  add(...messages: readonly ConversationMessage[]): void {
    this.#messages.push(...messages);
    this.#stored = this.#store.append(messages).catch(this.#onFailure);
  }

  /** Resolves when all that was said is stored, or could not be. */
  flush(): Promise<void> {
    return this.#stored;
  }

  assistant(text: string): void {
    if (text.trim() !== '') this.add({ role: 'assistant', blocks: [{ type: 'text', text }] });
  }
}

function withoutOpenCalls(messages: readonly ConversationMessage[]): ConversationMessage[] {
  return messages.filter((message, at) => {
    if (message.role !== 'assistant' || !hasCalls(message.blocks))
      return message.role === 'assistant' || isAnswerable(message, messages[at - 1]);
    const next = messages[at + 1];
    return next?.role === 'user' && next.toolResults !== undefined;
  });
}

/** Results stand behind the calls they answer, and nowhere else. */
function isAnswerable(message: ConversationMessage, before: ConversationMessage | undefined): boolean {
  if (message.role !== 'user' || message.toolResults === undefined) return true;
  return before?.role === 'assistant' && hasCalls(before.blocks);
}

function hasCalls(blocks: readonly AssistantBlock[]): boolean {
  return blocks.some((block) => block.type === 'tool_use');
}
