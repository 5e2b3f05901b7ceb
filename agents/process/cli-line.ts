import { tokenCount } from '../../protocol/token-count.ts';
import type { AgentUsage } from '../../runtime/ports.ts';

/** A block of an assistant's message, as far as it concerns us. */
export type CliBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly rawInput: string }
  | { readonly type: 'other'; readonly block: Readonly<Record<string, unknown>> };

export interface CliToolResult {
  readonly toolUseId: string;
  readonly content: string;
  readonly isError: boolean;
}

/** One message of the model. A CLI may send the blocks of one message in several lines, under the same id. */
export interface CliAssistantLine {
  readonly type: 'assistant';
  readonly messageId: string | undefined;
  readonly model: string | undefined;
  readonly blocks: readonly CliBlock[];
  readonly stopReason: string | null;
  readonly usage: AgentUsage | undefined;
  /** The CLI's class of error, when this is no message of a model but its report of one. */
  readonly error: string | undefined;
}

/** The end of one turn: what was asked for is done, or cannot be. */
export interface CliResultLine {
  readonly type: 'result';
  readonly subtype: string;
  readonly isError: boolean;
  readonly text: string | undefined;
  /** JSON text of the answer that the CLI itself took; undefined when it has none. */
  readonly structuredJson: string | undefined;
  readonly stopReason: string | null;
  /** HTTP status of the failed request, where the CLI says it. */
  readonly apiStatus: number | undefined;
  /** Tokens of this turn. */
  readonly usage: AgentUsage | undefined;
  /** Tokens of the whole process by now, models it used on the side included. */
  readonly totalUsage: AgentUsage | undefined;
  /** What the process has cost by now, by the CLI's own reckoning. */
  readonly totalCostUsd: number | undefined;
}

export type CliLine =
  | { readonly type: 'init'; readonly model: string | undefined }
  | CliAssistantLine
  | { readonly type: 'tool_results'; readonly results: readonly CliToolResult[] }
  | CliResultLine
  /** Known not to concern us, or not known. */
  | { readonly type: 'other' }
  /** No line of the protocol. */
  | { readonly type: 'noise'; readonly text: string };

/** Characters of it that are taken in; what is shown of it is less. */
const LONGEST_NOISE = 64 * 1024;

/** Something a program sent: it may have any shape. */
type Sent = Readonly<Record<string, unknown>>;

/**
 * Reads one line of stream-json as agent CLIs write it. Source: the public references of Claude Code and CodeBuddy Code.
 *
 * Contract: never throws; a member that is missing or of another type counts as absent. Lines of the CLI's own
 * subagents are `other`: what they say is no answer of this agent.
 */
export function readCliLine(line: string): CliLine {
  let sent: unknown;
  try {
    sent = JSON.parse(line);
  } catch {
    return line.trim() === '' ? { type: 'other' } : { type: 'noise', text: line.slice(0, LONGEST_NOISE) };
  }
  const row = sentIn(sent);
  if (typeof row.parent_tool_use_id === 'string') return { type: 'other' };
  switch (row.type) {
    case 'system':
      return row.subtype === 'init' ? { type: 'init', model: textIn(row.model) } : { type: 'other' };
    case 'assistant':
      return assistantLine(row);
    case 'user':
      return { type: 'tool_results', results: listIn(sentIn(row.message).content).flatMap(toolResult) };
    case 'result':
      return resultLine(row);
    default:
      return { type: 'other' };
  }
}

function assistantLine(row: Sent): CliAssistantLine {
  const message = sentIn(row.message);
  return {
    type: 'assistant',
    messageId: textIn(message.id),
    model: textIn(message.model),
    blocks: listIn(message.content).map(block),
    stopReason: textIn(message.stop_reason) ?? null,
    usage: apiUsage(message.usage),
    error: textIn(row.error),
  };
}

function block(sent: unknown): CliBlock {
  const one = sentIn(sent);
  if (one.type === 'text') return { type: 'text', text: textIn(one.text) ?? '' };
  if (one.type === 'tool_use' && typeof one.id === 'string' && typeof one.name === 'string') {
    // An input that the CLI could not parse comes as the text that it was.
    const rawInput = typeof one.input === 'string' ? one.input : JSON.stringify(one.input ?? {});
    return { type: 'tool_use', id: one.id, name: one.name, rawInput };
  }
  return { type: 'other', block: one };
}

function toolResult(sent: unknown): readonly CliToolResult[] {
  const one = sentIn(sent);
  if (one.type !== 'tool_result' || typeof one.tool_use_id !== 'string') return [];
  const content =
    typeof one.content === 'string'
      ? one.content
      : listIn(one.content)
          .map((part) => textIn(sentIn(part).text) ?? '')
          .join('\n');
  return [{ toolUseId: one.tool_use_id, content, isError: one.is_error === true }];
}

function resultLine(row: Sent): CliResultLine {
  const errors = listIn(row.errors).map((error) => (typeof error === 'string' ? error : JSON.stringify(error)));
  return {
    type: 'result',
    subtype: textIn(row.subtype) ?? 'success',
    isError: row.is_error === true,
    text: textIn(row.result) ?? (errors.length > 0 ? errors.join('\n') : undefined),
    structuredJson: row.structured_output === undefined ? undefined : JSON.stringify(row.structured_output),
    stopReason: textIn(row.stop_reason) ?? null,
    apiStatus: Number.isSafeInteger(row.api_error_status) ? (row.api_error_status as number) : undefined,
    usage: apiUsage(row.usage),
    totalUsage: modelsUsage(row.modelUsage),
    totalCostUsd: typeof row.total_cost_usd === 'number' && row.total_cost_usd >= 0 ? row.total_cost_usd : undefined,
  };
}

function apiUsage(told: unknown): AgentUsage | undefined {
  if (typeof told !== 'object' || told === null) return undefined;
  const usage = told as Sent;
  return usageOf(
    tokenCount(usage.input_tokens),
    tokenCount(usage.output_tokens),
    tokenCount(usage.cache_read_input_tokens),
    tokenCount(usage.cache_creation_input_tokens),
  );
}

function modelsUsage(told: unknown): AgentUsage | undefined {
  const models = Object.values(sentIn(told)).map(sentIn);
  if (models.length === 0) return undefined;
  const sum = (name: string): number => models.reduce((total, model) => total + tokenCount(model[name]), 0);
  return usageOf(sum('inputTokens'), sum('outputTokens'), sum('cacheReadInputTokens'), sum('cacheCreationInputTokens'));
}

/** `inputTokens` of ours counts those of the cache as well. */
function usageOf(uncached: number, outputTokens: number, read: number, written: number): AgentUsage {
  return {
    inputTokens: uncached + read + written,
    outputTokens,
    ...(read === 0 ? {} : { cacheReadTokens: read }),
    ...(written === 0 ? {} : { cacheWriteTokens: written }),
  };
}

function sentIn(value: unknown): Sent {
  return typeof value === 'object' && value !== null ? (value as Sent) : {};
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
