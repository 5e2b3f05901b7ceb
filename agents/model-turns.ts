import type { AgentUsage, TransientFailure } from '../runtime/ports.ts';

/** Name of the tool through which an agent with a schema answers. Source: spec A-5. */
export const STRUCTURED_OUTPUT = 'StructuredOutput';

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

export interface ToolCall {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  /** Raw JSON text of the input as the model wrote it; may be broken or cut off. */
  readonly rawInput: string;
}

/** A block that the conversation only hands back to the provider as it came, such as thinking. */
export interface OpaqueBlock {
  readonly type: 'opaque';
  readonly block: Readonly<Record<string, unknown>>;
}

export type AssistantBlock = TextBlock | ToolCall | OpaqueBlock;

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly blocks: readonly AssistantBlock[];
}

export interface ToolResult {
  readonly toolUseId: string;
  readonly content: string;
  readonly isError: boolean;
}

/** Either a text of ours or the results of the calls in the message before it. */
export interface UserMessage {
  readonly role: 'user';
  readonly text?: string;
  readonly toolResults?: readonly ToolResult[];
}

export type ConversationMessage = AssistantMessage | UserMessage;

/** What one request to a model came to. Errors that no retry can mend are thrown as a WorkflowError instead. */
export type Turn =
  | {
      readonly type: 'message';
      readonly blocks: readonly AssistantBlock[];
      /** `end_turn`, `tool_use`, `max_tokens`, `refusal`, …; null when the provider gave none. */
      readonly stopReason: string | null;
      readonly usage: AgentUsage;
      /** Id of the model that wrote it, where it is known. */
      readonly model?: string;
      /** Why the provider refused, where it says so. */
      readonly refusal?: string;
    }
  | { readonly type: 'transient'; readonly failure: TransientFailure };

/**
 * One agent's line to a model.
 *
 * Contract:
 * - `send` answers the whole history; it may answer at once, without a promise, where nothing is waited for.
 * - It throws or rejects only with a WorkflowError, or with the reason of the agent's signal after an abort.
 * - It never retries: the caller decides.
 */
export interface ModelTurns {
  send(history: readonly ConversationMessage[]): Turn | Promise<Turn>;
}
