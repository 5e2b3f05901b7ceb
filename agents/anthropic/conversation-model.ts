import type { AgentUsage } from '../../runtime/ports.ts';
import type { ModelTurns } from '../model-turns.ts';
import type { AgentTool } from '../tools/agent-tool.ts';
import { type AnthropicLine, AnthropicTurns, type StreamEvent } from './anthropic-turns.ts';
import { DEFAULT_MODEL, resolveModel } from './models.ts';
import { type AnthropicAccess, openLine } from './open-line.ts';

/** What stays the same in the requests of one turn of a conversation. */
export interface ConversationFrame {
  /** Alias or id. @defaultValue the model the conversation was opened with */
  readonly model?: string | undefined;
  readonly system: string;
  readonly tools: readonly Pick<AgentTool, 'name' | 'description' | 'inputSchema'>[];
}

/** A model that a person, or a program in their place, talks to: not an agent of a script. */
export interface ConversationModel {
  /** Gives the id that an alias stands for; undefined asks for the default one. */
  modelId(name?: string): string;
  /**
   * A line for one turn. `onEvent` sees each event of the stream as the server sent it; `onAborted` is told what a request
   * had used that the signal cut off.
   *
   * @throws WorkflowError `AGENT_AUTH` without a key
   */
  turns(
    frame: ConversationFrame,
    signal: AbortSignal,
    onEvent?: (event: StreamEvent) => void,
    onAborted?: (usage: AgentUsage) => void,
  ): Promise<ModelTurns>;
}

export interface ConversationModelOptions extends AnthropicAccess {
  /** @defaultValue sonnet */
  readonly model?: string | undefined;
  /** Output limit of one message. @defaultValue 32000 */
  readonly maxTokens?: number | undefined;
}

const DEFAULT_MAX_TOKENS = 32_000;

/** Opens a conversation with a model of the Messages API; the SDK is loaded with its first turn. */
export function createConversationModel(options: ConversationModelOptions): ConversationModel {
  let line: Promise<AnthropicLine> | undefined;
  const modelId = (name?: string): string => resolveModel(name ?? options.model ?? DEFAULT_MODEL);
  return {
    modelId,
    async turns({ model, system, tools }, signal, onEvent, onAborted) {
      line ??= openLine(options);
      const frame = {
        model: modelId(model),
        maxTokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
        effort: undefined,
        system,
        tools,
        output: undefined,
      };
      const report = { alive: () => {}, ...(onAborted === undefined ? {} : { usage: onAborted }) };
      return new AnthropicTurns(await line, frame, signal, report, onEvent);
    },
  };
}
