import { untilAborted } from '../../agents/abort.ts';
import type { StreamEvent } from '../../agents/anthropic/anthropic-turns.ts';
import type { ConversationModel } from '../../agents/anthropic/conversation-model.ts';
import type { AssistantBlock, Turn as ModelTurn, ModelTurns, ToolCall, ToolResult } from '../../agents/model-turns.ts';
import { isNestedTooDeeply } from '../../protocol/json-nesting.ts';
import { toErrorRecord } from '../../protocol/workflow-error.ts';
import { exhaustedError, LONGEST_RETRY_AFTER_MS, quotaError, retryDelayMs } from '../../runtime/calls/retry-policy.ts';
import type { Clock, TransientFailure } from '../../runtime/ports.ts';
import type { HostLines } from './host-lines.ts';
import type { HostTool, HostToolResult } from './host-tool.ts';
import type { SessionCosts } from './session-costs.ts';
import type { Transcript } from './transcript.ts';
import { lineUsage, type Turn, type TurnOutcome } from './turn.ts';

export interface ConverseParts {
  readonly model: ConversationModel;
  /** Alias or id that the client chose; undefined for the model's default. */
  readonly modelName: string | undefined;
  readonly system: string;
  readonly tools: readonly HostTool[];
  readonly transcript: Transcript;
  readonly turn: Turn;
  readonly lines: HostLines;
  readonly costs: SessionCosts;
  readonly partialMessages: boolean;
  /** Requests to the model that one turn may make; undefined for no bound. */
  readonly maxTurns: number | undefined;
  readonly maxRetries: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly newUuid: () => string;
}

type Message = Extract<ModelTurn, { type: 'message' }>;

/**
 * Leads the model from the last message of the transcript to the end of its turn: asks, shows what it says, runs the tools
 * it calls, and asks again until it calls none.
 *
 * Contract: it never rejects. An interrupt ends it at once, with every call answered in the transcript.
 */
export async function converseTurn(parts: ConverseParts): Promise<TurnOutcome> {
  const { turn, transcript, maxTurns } = parts;
  try {
    for (let requests = 0; ; requests++) {
      if (maxTurns !== undefined && requests >= maxTurns) return { type: 'out-of-turns', maxTurns };
      const message = await ask(parts);
      const calls = message.blocks.filter((block) => block.type === 'tool_use');
      if (calls.length === 0) return endOfTurn(message, transcript);
      const results = await runCalls(calls, message.stopReason === 'max_tokens', parts);
      transcript.add({ role: 'assistant', blocks: message.blocks }, { role: 'user', toolResults: results });
      if (turn.signal.aborted) return { type: 'interrupted' };
    }
  } catch (error) {
    if (turn.signal.aborted) return { type: 'interrupted' };
    const { message, code } = toErrorRecord(error);
    return { type: 'failed', text: `${message} [${code}]` };
  }
}

function endOfTurn({ blocks, stopReason, refusal }: Message, transcript: Transcript): TurnOutcome {
  const text = textOf(blocks);
  if (stopReason === 'refusal')
    return { type: 'failed', text: `The model refused${refusal === undefined ? '' : `: ${refusal}`}.` };
  if (blocks.some((block) => block.type !== 'text' || block.text.trim() !== '')) {
    transcript.add({
      role: 'assistant',
      blocks: blocks.filter((block) => block.type !== 'text' || block.text.trim() !== ''),
    });
  }
  return { type: 'done', text, stopReason };
}

const textOf = (blocks: readonly AssistantBlock[]): string =>
  blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');

/** One message of the model, over as many requests as its failures need. */
async function ask(parts: ConverseParts): Promise<Message> {
  const { clock, turn, transcript, lines, maxRetries, random } = parts;
  for (let retry = 1; ; retry++) {
    const startedAtMs = clock.now();
    let id: string | undefined;
    const line = await openTurns(parts, (found) => {
      id = found;
    });
    const answer = await line.send(transcript.messages);
    if (answer.type === 'message') {
      turn.countMessage(answer.usage, clock.now() - startedAtMs);
      parts.costs.message(parts.model.modelId(parts.modelName), answer.usage);
      lines.say(assistantLine(answer, parts, id));
      return answer;
    }
    const { failure } = answer;
    if ((failure.retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) throw quotaError(failure);
    if (retry > maxRetries) throw exhaustedError(failure, maxRetries);
    const delayMs = retryDelayMs(failure, retry, random());
    lines.say(retryLine(failure, retry, maxRetries, delayMs));
    await untilAborted(wait(clock, delayMs), turn.signal);
  }
}

/** @param onId told the id that the server gave the message */
function openTurns(parts: ConverseParts, onId: (id: string) => void): Promise<ModelTurns> {
  const { model, modelName, system, tools, turn, lines, costs, partialMessages } = parts;
  const onEvent = (event: StreamEvent): void => {
    if (event.type === 'message_start') {
      const id = (event['message'] as { readonly id?: unknown } | undefined)?.id;
      if (typeof id === 'string') onId(id);
    }
    if (partialMessages) lines.say({ type: 'stream_event', event, parent_tool_use_id: null });
  };
  return model.turns({ model: modelName, system, tools }, turn.signal, onEvent, (usage) =>
    costs.message(model.modelId(modelName), usage),
  );
}

function wait(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}

const retryLine = (
  failure: TransientFailure,
  attempt: number,
  maxRetries: number,
  delayMs: number,
): object & Record<string, unknown> => ({
  type: 'system',
  subtype: 'api_retry',
  attempt,
  max_retries: maxRetries,
  retry_delay_ms: delayMs,
  error_status: failure.status ?? null,
});

function assistantLine(
  { blocks, stopReason, usage }: Message,
  parts: ConverseParts,
  id: string | undefined,
): Record<string, unknown> {
  return {
    type: 'assistant',
    message: {
      id: id ?? `msg_${parts.newUuid().replaceAll('-', '')}`,
      type: 'message',
      role: 'assistant',
      model: parts.model.modelId(parts.modelName),
      content: blocks.map(contentOf),
      stop_reason: stopReason,
      stop_sequence: null,
      usage: lineUsage(usage),
    },
    parent_tool_use_id: null,
  };
}

function contentOf(block: AssistantBlock): Readonly<Record<string, unknown>> {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: parsed(block.rawInput) ?? {} };
    case 'opaque':
      return block.block;
  }
}

function parsed(rawInput: string): unknown {
  try {
    const value: unknown = JSON.parse(rawInput);
    return isNestedTooDeeply(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Runs the calls of one message at once, shows their results, and gives them in the order of the calls. */
async function runCalls(
  calls: readonly ToolCall[],
  cut: boolean,
  parts: ConverseParts,
): Promise<readonly ToolResult[]> {
  const { lines } = parts;
  const results = await Promise.all(calls.map((call) => runCall(call, cut, parts)));
  const [only] = results.length === 1 ? results : [];
  lines.say({
    type: 'user',
    message: {
      role: 'user',
      content: results.map(({ text, isError }, at) => ({
        type: 'tool_result',
        tool_use_id: calls[at]?.id,
        content: text,
        ...(isError ? { is_error: true } : {}),
      })),
    },
    parent_tool_use_id: null,
    ...(only?.structured === undefined ? {} : { tool_use_result: only.structured }),
  });
  return results.map(({ text, isError }, at) => ({ toolUseId: calls[at]?.id ?? '', content: text, isError }));
}

async function runCall({ id, name, rawInput }: ToolCall, cut: boolean, parts: ConverseParts): Promise<HostToolResult> {
  const { tools, turn } = parts;
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    const known = tools.map((one) => one.name).join(', ') || 'none';
    return failed(`There is no tool named ${name}. Tools you may use: ${known}.`);
  }
  const input = parsed(rawInput);
  if (input === undefined) {
    return failed(
      cut
        ? 'The call was cut off by the output limit before its input was complete. Make a shorter call.'
        : 'The input of the call is no valid JSON, or is nested too deeply. Call again with valid, flatter JSON.',
    );
  }
  try {
    return await untilAborted(tool.run(input, { toolUseId: id, turn }), turn.signal);
  } catch (error) {
    if (turn.signal.aborted) return failed('It was interrupted.');
    const { message, code } = toErrorRecord(error);
    return failed(`${message} [${code}]`);
  }
}

const failed = (text: string): HostToolResult => ({ text, isError: true });
