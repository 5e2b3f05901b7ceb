import { untilAborted } from '../../agents/abort.ts';
import type { ConversationModel } from '../../agents/anthropic/conversation-model.ts';
import type { Clock } from '../../runtime/ports.ts';
import { converseTurn } from './converse-turn.ts';
import type { HostLines } from './host-lines.ts';
import type { HostTool } from './host-tool.ts';
import { mainInstructions } from './main-instructions.ts';
import type { SessionCosts } from './session-costs.ts';
import type { SessionHooks } from './session-hooks.ts';
import type { SessionSettings } from './session-settings.ts';
import type { Transcript } from './transcript.ts';
import type { Turn, TurnOutcome } from './turn.ts';

export interface TurnRunnerOptions {
  /** Undefined when none is configured: then only saved workflows run. */
  readonly model: ConversationModel | undefined;
  readonly tools: readonly HostTool[];
  /** Tools of MCP servers, as they are when the model is asked. */
  readonly moreTools: () => Promise<readonly HostTool[]>;
  readonly settings: SessionSettings;
  readonly transcript: Transcript;
  readonly lines: HostLines;
  readonly costs: SessionCosts;
  readonly hooks: SessionHooks | undefined;
  readonly partialMessages: boolean;
  readonly maxTurns: number | undefined;
  readonly maxRetries: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly newUuid: () => string;
}

/** Times that hooks may send a turn on; then it ends whatever they say. */
const MAX_STOP_BLOCKS = 10;

/** Answers what stands last in the transcript, through the model; or says that there is none. */
export async function answerByModel(turn: Turn, options: TurnRunnerOptions): Promise<TurnOutcome> {
  const { model, settings, transcript, hooks, newUuid, tools, moreTools } = options;
  if (model === undefined) return { type: 'failed', text: NO_MODEL };
  for (let blocks = 0; ; blocks++) {
    const outcome = await converseTurn({
      ...options,
      model,
      turn,
      modelName: settings.modelName,
      tools: [...tools, ...(await untilAborted(moreTools(), turn.signal))],
      system: mainInstructions(settings),
    });
    if (outcome.type !== 'done' || hooks === undefined || blocks >= MAX_STOP_BLOCKS) return outcome;
    const { block } = await hooks.stop({ lastAssistantMessage: outcome.text, stopHookActive: blocks > 0 }, turn.signal);
    if (turn.signal.aborted) return { type: 'interrupted' };
    if (block === undefined) return outcome;
    transcript.user(block);
    options.lines.say({
      type: 'user',
      message: { role: 'user', content: block },
      parent_tool_use_id: null,
      isSynthetic: true,
      uuid: newUuid(),
    });
  }
}

const NO_MODEL =
  'No model is configured, so there is nobody to talk to. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or run a saved ' +
  'workflow by its name: /name args. [AGENT_AUTH]';

/** Shows a message that the host writes itself in the model's place. */
export function sayAsAssistant(
  content: readonly Readonly<Record<string, unknown>>[],
  { lines, newUuid }: Pick<TurnRunnerOptions, 'lines' | 'newUuid'>,
): void {
  lines.say({
    type: 'assistant',
    message: {
      id: `msg_${newUuid().replaceAll('-', '')}`,
      type: 'message',
      role: 'assistant',
      model: '<synthetic>',
      content,
      stop_reason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    },
    parent_tool_use_id: null,
  });
}

/** Writes the one `result` of a turn. */
export function sayResult(
  outcome: TurnOutcome,
  turn: Turn,
  {
    lines,
    clock,
    totals,
  }: Pick<TurnRunnerOptions, 'lines' | 'clock'> & { readonly totals: Readonly<Record<string, unknown>> },
): void {
  const fields = { ...turn.resultFields(clock.now()), ...totals };
  switch (outcome.type) {
    case 'done':
      lines.say({
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: outcome.text,
        stop_reason: outcome.stopReason,
        ...fields,
      });
      return;
    case 'failed':
      lines.say({
        type: 'result',
        subtype: 'success',
        is_error: true,
        result: outcome.text,
        stop_reason: null,
        ...fields,
      });
      return;
    case 'interrupted':
      lines.say({
        type: 'result',
        subtype: 'error_during_execution',
        is_error: true,
        errors: ['The turn was interrupted. [RUN_CANCELLED]'],
        stop_reason: null,
        terminal_reason: 'aborted_streaming',
        ...fields,
      });
      return;
    case 'out-of-turns':
      lines.say({
        type: 'result',
        subtype: 'error_max_turns',
        is_error: true,
        errors: [`The model used the ${outcome.maxTurns} requests that --max-turns allows.`],
        stop_reason: null,
        ...fields,
      });
      return;
    default:
      outcome satisfies never;
  }
}
