import { isWorkflowError, WorkflowError } from '../protocol/workflow-error.ts';
import type { AgentOutcome, AgentReporter, AgentRequest, TransientFailure } from '../runtime/ports.ts';
import { abortError, throwIfAborted } from './abort.ts';
import type { Hooks } from './hooks/hooks.ts';
import {
  type AssistantBlock,
  type ConversationMessage,
  type ModelTurns,
  STRUCTURED_OUTPUT,
  type ToolCall,
  type ToolResult,
  type Turn,
} from './model-turns.ts';
import { StructuredAnswer } from './structured-answer.ts';
import { EARLIER_ATTEMPT, GO_ON, NUDGE, ownWorktree } from './subagent-instructions.ts';
import { runToolCalls } from './tool-calls.ts';
import type { AgentTool } from './tools/agent-tool.ts';
import { type LateToolHost, lateToolHost } from './tools/late-tool-host.ts';
import type { ToolSession } from './tools/tool-session.ts';

type MessageTurn = Extract<Turn, { type: 'message' }>;

/** Answers of one agent that hooks may hold back; then it stands, so that no hook keeps an agent going for ever (H-18). */
const MOST_HELD_BACK = 10;

/** Messages an agent may use when its call sets no `maxTurns`; keeps a model that never stops calling tools from running on. */
export const DEFAULT_MAX_TURNS = 500;

export interface ConversationParts {
  readonly request: AgentRequest;
  readonly signal: AbortSignal;
  readonly report: AgentReporter;
  readonly turns: ModelTurns;
  /** Tools the agent has besides StructuredOutput, as far as its permissions allow. */
  readonly tools: readonly AgentTool[];
  /** What the tools of all agents share. @defaultValue one without permissions */
  readonly toolHost?: LateToolHost | undefined;
  /** Undefined when none are set, which costs nothing. */
  readonly hooks?: Hooks | undefined;
}

/**
 * Leads one agent from its prompt to its value: asks, runs the tools that are called for, judges the answer, and asks
 * again where the rules allow it.
 *
 * A text cut off by the output limit is continued once and joined; what is there then is the value, with a note in the
 * transcript. Usage counts whole messages: a stream that was lost midway is not counted.
 */
export function converse(parts: ConversationParts): Promise<AgentOutcome> {
  return new Conversation(parts).run();
}

class Conversation {
  /** Opened with the first tool call. */
  #session: ToolSession | undefined;
  readonly #parts: ConversationParts;
  #task: string;
  readonly #history: ConversationMessage[];
  readonly #answer: StructuredAnswer | undefined;
  readonly #maxTurns: number;
  #turnsUsed = 0;
  #toolUses = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #nudged = false;
  #askedAgain = false;
  /** First part of a text that the output limit cut off. */
  #cutText: string | undefined;
  #lastText = '';
  /** Answers that hooks held back. */
  #heldBack = 0;
  /** Results of the tools that were called beside the answer. */
  #besides: readonly ToolResult[] = [];

  constructor(parts: ConversationParts) {
    const { request } = parts;
    this.#parts = parts;
    this.#task = taskOf(request);
    this.#history = [{ role: 'user', text: this.#task }];
    this.#maxTurns = request.options.maxTurns ?? DEFAULT_MAX_TURNS;
    this.#answer =
      request.output === undefined
        ? undefined
        : new StructuredAnswer(request.output, request.maxStructuredOutputRetries);
  }

  /** One async frame, which waits only where there is something to wait for: this is on the way of every agent. */
  async run(): Promise<AgentOutcome> {
    const { signal, report, turns, hooks } = this.#parts;
    try {
      throwIfAborted(signal);
      if (hooks?.has('SubagentStart')) await this.#startHooks(hooks);
      report.transcript?.({ type: 'user', text: this.#task });
      for (;;) {
        if (this.#turnsUsed >= this.#maxTurns) throw this.#outOfTurns();
        const sent = turns.send(this.#history);
        const turn = sent instanceof Promise ? await sent : sent;
        throwIfAborted(signal);
        if (turn.type === 'transient') {
          await this.#retry(turn.failure);
          continue;
        }
        const taken = this.#take(turn);
        const outcome = taken instanceof Promise ? await taken : taken;
        if (outcome === undefined) continue;
        if (!hooks?.has('SubagentStop') || !(await this.#stopHooks(hooks, turn, outcome))) return outcome;
      }
    } catch (error) {
      throw this.#failureOf(error);
    } finally {
      if (this.#session !== undefined) await this.#session.close();
    }
  }

  #failureOf(error: unknown): unknown {
    const { signal, report } = this.#parts;
    if (signal.aborted) return abortError(signal);
    if (isWorkflowError(error)) report.transcript?.({ type: 'error', code: error.code, message: error.message });
    return error;
  }

  async #retry(failure: TransientFailure): Promise<void> {
    const { signal, report } = this.#parts;
    report.transcript?.({ type: 'error', transient: true, ...failure });
    await report.retry(failure);
    throwIfAborted(signal);
  }

  /** Adds to the task what hooks have to say beside it. */
  async #startHooks(hooks: Hooks): Promise<void> {
    const { additionalContext } = await hooks.subagentStart(this.#parts);
    if (additionalContext === undefined) return;
    this.#task += `\n\n${additionalContext}`;
    this.#history[0] = { role: 'user', text: this.#task };
  }

  /** True when a hook held the answer back and the agent was told how to go on. */
  async #stopHooks(hooks: Hooks, turn: MessageTurn, outcome: AgentOutcome): Promise<boolean> {
    const { report } = this.#parts;
    await report.transcriptSaved?.();
    const lastAssistantMessage = textOf(turn.blocks) || outcome.valueJson;
    const { block } = await hooks.subagentStop(this.#parts, {
      lastAssistantMessage,
      stopHookActive: this.#heldBack > 0,
    });
    if (block === undefined) return false;
    if (this.#heldBack >= MOST_HELD_BACK || this.#turnsUsed >= this.#maxTurns) {
      const why =
        this.#heldBack >= MOST_HELD_BACK ? `after ${this.#heldBack} times` : 'with no message left (maxTurns)';
      const { label } = this.#parts.request;
      report.warn?.(`A SubagentStop hook held back the answer of "${label}" once more, ${why}; the answer stands.`);
      return false;
    }
    this.#heldBack += 1;
    this.#takeBack(turn, block);
    return true;
  }

  /** Lets the agent go on after an answer that does not count, with a fresh allowance. */
  #takeBack(turn: MessageTurn, instruction: string): void {
    const calls = turn.blocks.filter((block) => block.type === 'tool_use');
    this.#answer?.beginAnew();
    this.#nudged = this.#askedAgain = false;
    this.#cutText = undefined;
    this.#remember(turn.blocks);
    if (calls.length === 0) {
      this.#say(instruction);
      return;
    }
    const toolResults = calls.map(
      ({ id }) =>
        this.#besides.find((result) => result.toolUseId === id) ?? {
          toolUseId: id,
          content: instruction,
          isError: true,
        },
    );
    this.#history.push({ role: 'user', toolResults });
    for (const result of toolResults) this.#parts.report.transcript?.({ type: 'tool_result', ...result });
  }

  /** Handles one message; gives the outcome when the agent is done with it. */
  #take(turn: MessageTurn): AgentOutcome | undefined | Promise<AgentOutcome | undefined> {
    this.#count(turn);
    if (turn.stopReason === 'refusal') throw this.#refused(turn);
    const calls = turn.blocks.filter((block) => block.type === 'tool_use');
    return calls.length > 0 ? this.#takeCalls(turn, calls) : this.#takeText(turn);
  }

  #count({ blocks, stopReason, usage, model }: MessageTurn): void {
    const { report } = this.#parts;
    this.#turnsUsed += 1;
    this.#inputTokens += usage.inputTokens;
    this.#outputTokens += usage.outputTokens;
    report.alive();
    report.usage(usage, model);
    report.transcript?.({ type: 'assistant', blocks: blocks.map(transcriptBlock), stopReason, usage });
  }

  #takeCalls(
    turn: MessageTurn,
    calls: readonly ToolCall[],
  ): AgentOutcome | undefined | Promise<AgentOutcome | undefined> {
    const answer = this.#answer;
    const answers = answer === undefined ? [] : calls.filter((call) => call.name === STRUCTURED_OUTPUT);
    const others = answers.length === 0 ? calls : calls.filter((call) => call.name !== STRUCTURED_OUTPUT);
    const verdict = answer?.judge(answers, isCut(turn) ? calls.at(-1) : undefined);
    if (others.length === 0) return this.#afterCalls(turn, calls, verdict?.rejections ?? [], verdict?.valueJson);
    return this.#runTools(others, isCut(turn)).then((results) =>
      this.#afterCalls(turn, calls, [...(verdict?.rejections ?? []), ...results], verdict?.valueJson),
    );
  }

  #afterCalls(
    turn: MessageTurn,
    calls: readonly ToolCall[],
    results: readonly ToolResult[],
    valueJson: string | undefined,
  ): AgentOutcome | undefined {
    if (valueJson !== undefined) {
      this.#besides = results;
      return this.#outcome(valueJson, false);
    }
    this.#answer?.throwIfUsedUp();
    for (const { toolUseId, content, isError } of results) {
      this.#parts.report.transcript?.({ type: 'tool_result', toolUseId, content, isError });
    }
    const inOrder = calls.map((call) => results.find((result) => result.toolUseId === call.id));
    this.#remember(turn.blocks);
    this.#history.push({ role: 'user', toolResults: inOrder.filter((result) => result !== undefined) });
    return undefined;
  }

  async #runTools(calls: readonly ToolCall[], cut: boolean): Promise<readonly ToolResult[]> {
    const { toolHost = lateToolHost(), request, report } = this.#parts;
    this.#toolUses += calls.length;
    this.#session ??= (await toolHost.get()).openSession(request, report);
    return runToolCalls(calls, { ...this.#parts, session: this.#session, cut });
  }

  #takeText(turn: MessageTurn): AgentOutcome | undefined {
    const text = textOf(turn.blocks);
    if (text !== '') this.#lastText = text;
    if (this.#answer !== undefined) return this.#nudge(turn);
    if (text.trim() === '' && this.#cutText === undefined) return this.#takeEmpty(text);
    if (isCut(turn) && this.#goOn(turn, text)) return undefined;
    return this.#outcome(JSON.stringify((this.#cutText ?? '') + text), false);
  }

  #nudge(turn: MessageTurn): undefined {
    if (this.#nudged) throw this.#noOutput();
    this.#nudged = true;
    this.#remember(turn.blocks);
    this.#say(NUDGE);
  }

  /** An empty message cannot stand in a history, so the same history is sent once more. */
  #takeEmpty(text: string): AgentOutcome | undefined {
    if (this.#askedAgain || this.#turnsUsed >= this.#maxTurns) return this.#outcome(JSON.stringify(text), true);
    this.#askedAgain = true;
    this.#note('The answer was empty; asking once more.');
    return undefined;
  }

  #goOn(turn: MessageTurn, text: string): boolean {
    if (this.#cutText !== undefined || turn.stopReason !== 'max_tokens' || this.#turnsUsed >= this.#maxTurns) {
      this.#note('The answer was cut off by the output limit; what there is of it is the value.');
      return false;
    }
    this.#cutText = text;
    this.#remember(turn.blocks);
    this.#say(GO_ON);
    return true;
  }

  #say(text: string): void {
    this.#history.push({ role: 'user', text });
    this.#parts.report.transcript?.({ type: 'user', text });
  }

  #note(text: string): void {
    this.#parts.report.transcript?.({ type: 'note', text });
  }

  #remember(blocks: readonly AssistantBlock[]): void {
    const kept = blocks.filter((block) => block.type !== 'text' || block.text.trim() !== '');
    if (kept.some((block) => block.type !== 'opaque')) this.#history.push({ role: 'assistant', blocks: kept });
  }

  #outcome(valueJson: string, empty: boolean): AgentOutcome {
    return {
      valueJson,
      empty,
      usage: { inputTokens: this.#inputTokens, outputTokens: this.#outputTokens },
      toolUses: this.#toolUses,
      attempts: this.#answer?.attempts ?? 0,
    };
  }

  #outOfTurns(): WorkflowError {
    const own = this.#parts.request.options.maxTurns !== undefined;
    const limit = own ? `its limit of ${this.#maxTurns} (maxTurns)` : `the limit of ${this.#maxTurns}`;
    return new WorkflowError(
      'AGENT_MAX_TURNS',
      `The agent was not done after ${this.#turnsUsed} messages, ${limit}. Raise maxTurns, or ask for less in one call.`,
      { data: { maxTurns: this.#maxTurns, lastText: this.#lastText } },
    );
  }

  #noOutput(): WorkflowError {
    return new WorkflowError(
      'AGENT_NO_OUTPUT',
      'The agent answered in text twice instead of calling StructuredOutput. Say in the prompt what each field should hold, or try a stronger model.',
      { data: { lastText: this.#lastText } },
    );
  }

  #refused({ refusal, blocks }: MessageTurn): WorkflowError {
    const reason = refusal === undefined ? '' : ` (${refusal})`;
    return new WorkflowError(
      'AGENT_API',
      `The model refused to answer this prompt${reason}. Reword the prompt, or use another model.`,
      { data: { refusal: true, lastText: textOf(blocks) } },
    );
  }
}

/** Whether the message ends where a limit cut it off, and not where the model stopped. */
function isCut({ stopReason }: MessageTurn): boolean {
  return stopReason === 'max_tokens' || stopReason === 'model_context_window_exceeded';
}

function textOf(blocks: readonly AssistantBlock[]): string {
  let text = '';
  for (const block of blocks) if (block.type === 'text') text += block.text;
  return text;
}

function transcriptBlock(block: AssistantBlock): Readonly<Record<string, unknown>> {
  return block.type === 'opaque' ? block.block : { ...block };
}

/** The first message of an agent: its prompt, and after it what concerns its place alone. */
export function taskOf({ prompt, attempt, worktree }: AgentRequest): string {
  if (worktree === undefined && attempt === undefined) return prompt;
  const parts = [prompt];
  if (worktree !== undefined) parts.push(ownWorktree(worktree.branch));
  if ((attempt ?? 1) > 1 || worktree?.hasEarlierWork) parts.push(EARLIER_ATTEMPT);
  return parts.join('\n\n');
}
