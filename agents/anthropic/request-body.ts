import type Anthropic from '@anthropic-ai/sdk';
import type { AgentOptions, OutputContract } from '../../runtime/ports.ts';
import { type AssistantBlock, type ConversationMessage, STRUCTURED_OUTPUT, type UserMessage } from '../model-turns.ts';
import type { AgentTool } from '../tools/agent-tool.ts';

type CreateParams = Anthropic.MessageCreateParamsStreaming;

/** What stays the same in all requests of one agent. */
export interface RequestFrame {
  readonly model: string;
  readonly maxTokens: number;
  readonly effort: AgentOptions['effort'];
  readonly system: string;
  readonly tools: readonly Pick<AgentTool, 'name' | 'description' | 'inputSchema'>[];
  readonly output: OutputContract | undefined;
}

const CACHED = { type: 'ephemeral' } as const;
/** Far more than an answer may have. */
const MAX_INPUT_DEPTH = 500;

/**
 * Builds the body of one Messages request.
 *
 * Contract: tools and instructions come first and are marked for the prompt cache, so that all agents of a kind share
 * them; a history is marked at its end from the second turn on, when it will be read again. No `tool_choice` is set: a
 * forced one shuts other tools out and cannot go with thinking.
 */
export function requestBody(frame: RequestFrame, history: readonly ConversationMessage[]): CreateParams {
  const tools = toolParams(frame);
  return {
    model: frame.model,
    max_tokens: frame.maxTokens,
    stream: true,
    system: [{ type: 'text', text: frame.system, cache_control: CACHED }],
    ...(tools.length === 0 ? {} : { tools }),
    ...(frame.effort === undefined ? {} : { output_config: { effort: frame.effort } }),
    messages: history.map((message, index) =>
      message.role === 'assistant'
        ? { role: 'assistant', content: message.blocks.map(assistantParam) }
        : { role: 'user', content: userParams(message, index > 0 && index === history.length - 1) },
    ),
  };
}

/** What agents of a kind send alike before their tasks, as one text: model, tools and instructions. */
export function cachedPrefix(frame: RequestFrame): string {
  return JSON.stringify([frame.model, toolParams(frame), frame.system]);
}

function toolParams({ tools, output }: RequestFrame): Anthropic.Tool[] {
  const params: Anthropic.Tool[] = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema as Anthropic.Tool.InputSchema,
  }));
  const lastShared = params.at(-1);
  if (output === undefined) return params;
  if (lastShared !== undefined) lastShared.cache_control = CACHED;
  params.push({
    name: STRUCTURED_OUTPUT,
    description: 'Hands in the result of the task. The input is the result itself. Call it once, at the end.',
    input_schema: output.wireSchema as Anthropic.Tool.InputSchema,
  });
  return params;
}

function userParams({ text, toolResults }: UserMessage, mark: boolean): Anthropic.ContentBlockParam[] {
  const params: (Anthropic.ToolResultBlockParam | Anthropic.TextBlockParam)[] = (toolResults ?? []).map(
    ({ toolUseId, content, isError }) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: content.trim() === '' ? '(no output)' : content,
      ...(isError ? { is_error: true } : {}),
    }),
  );
  // Half a character would be refused by the API as broken JSON.
  if (text !== undefined) params.push({ type: 'text', text: text.toWellFormed() });
  const last = params.at(-1);
  if (mark && last !== undefined) last.cache_control = CACHED;
  return params;
}

function assistantParam(block: AssistantBlock): Anthropic.ContentBlockParam {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text.toWellFormed() };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: inputOf(block.rawInput) };
    case 'opaque':
      return block.block as unknown as Anthropic.ContentBlockParam;
  }
}

/** The API takes only objects here; what was broken, no object or too deep is described in the result of the call. */
function inputOf(rawInput: string): Record<string, unknown> {
  try {
    const input: unknown = JSON.parse(rawInput.toWellFormed());
    if (typeof input === 'object' && input !== null && !Array.isArray(input) && !nestsTooDeep(input)) {
      return input as Record<string, unknown>;
    }
  } catch {
    // Falls through: the model is told what is wrong with it.
  }
  return {};
}

/** Parsing takes any depth, but writing the request would overflow the stack. */
function nestsTooDeep(input: object): boolean {
  let level: unknown[] = [input];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_INPUT_DEPTH) return true;
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return false;
}
