import { isWorkflowError, WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentOutcome, AgentReporter, AgentRequest, Clock } from '../../runtime/ports.ts';
import { abortError, throwIfAborted } from '../abort.ts';
import { taskOf } from '../conversation.ts';
import { cutsOf } from '../cuts.ts';
import { StructuredAnswer } from '../structured-answer.ts';
import { GO_ON, NUDGE } from '../subagent-instructions.ts';
import type { AgentProcess } from './agent-process.ts';
import { failureOfResult, judgeCliFailure, judgeCrash } from './cli-failure.ts';
import type { CliResultLine } from './cli-line.ts';
import { CliTurn } from './cli-turn.ts';
import { CliUsage } from './cli-usage.ts';

export interface CliConversationParts {
  readonly request: AgentRequest;
  readonly signal: AbortSignal;
  readonly report: AgentReporter;
  readonly clock: Clock;
  /** The command as a person knows it. */
  readonly command: string;
  /** Starts a process of the CLI for this agent. */
  open(): AgentProcess;
}

/** Said when a turn was lost to a passing failure, and the CLI still knows what it did before. */
const AFTER_FAILURE = `A passing failure cut the work short. Go on with the task where you were.`;
const EMPTY = `That was empty. Give the result of the task.`;

/** What became of a turn: the value, or what to say next. */
type Next = { readonly outcome: AgentOutcome } | { readonly say: string };

/**
 * Leads one agent whose work an agent CLI does: hands it the prompt, follows its stream, judges its answer, and asks again
 * where the rules allow it (A-2, A-4, A-5). Tools, their permissions and the requests to the model are the CLI's own.
 */
export async function converseWithCli(parts: CliConversationParts): Promise<AgentOutcome> {
  const { signal, report } = parts;
  throwIfAborted(signal);
  const conversation = new CliConversation(parts);
  const stop = (): void => conversation.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await conversation.run();
  } catch (error) {
    if (signal.aborted) throw abortError(signal);
    if (isWorkflowError(error)) report.transcript?.({ type: 'error', code: error.code, message: error.message });
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    conversation.stop();
  }
}

class CliConversation {
  readonly #parts: CliConversationParts;
  readonly #usage = new CliUsage();
  readonly #answer: StructuredAnswer | undefined;
  #process: AgentProcess | undefined;
  #turnsUsed = 0;
  #toolUses = 0;
  #nudged = false;
  #askedAgain = false;
  #cutText: string | undefined;
  #lastText = '';

  constructor(parts: CliConversationParts) {
    const { output, maxStructuredOutputRetries } = parts.request;
    this.#parts = parts;
    this.#answer = output === undefined ? undefined : new StructuredAnswer(output, maxStructuredOutputRetries);
  }

  stop(): void {
    this.#process?.stop();
  }

  async run(): Promise<AgentOutcome> {
    let text = taskOf(this.#parts.request);
    for (;;) {
      const turn = await this.#turn(text);
      throwIfAborted(this.#parts.signal);
      const next = await this.#judge(turn);
      if ('outcome' in next) {
        await this.#process?.leave();
        return next.outcome;
      }
      text = next.say;
    }
  }

  /** Says something and follows the stream to the end of the turn. */
  async #turn(text: string): Promise<CliTurn> {
    const { report, clock } = this.#parts;
    if (this.#process === undefined) {
      this.#usage.processStarted();
      this.#process = this.#parts.open();
    }
    const cli = this.#process;
    report.transcript?.({ type: 'user', text });
    cli.writeLine(userLine(text));
    const turn = new CliTurn({ report, answer: this.#answer, usage: this.#usage, lines: cli, clock });
    await turn.follow();
    this.#turnsUsed += turn.messages;
    this.#toolUses += turn.toolUses;
    if (turn.text !== '') this.#lastText = turn.text;
    return turn;
  }

  #judge(turn: CliTurn): Next | Promise<Next> {
    if (turn.valueJson !== undefined) return { outcome: this.#outcome(turn.valueJson, false) };
    this.#answer?.throwIfUsedUp();
    const { result } = turn;
    if (result === undefined) return this.#afterCrash(turn);
    if (result.subtype === 'error_max_turns') throw this.#outOfTurns();
    if (result.subtype === 'error_max_structured_output_retries') throw this.#neverValid(result);
    if (turn.stopReason === 'refusal') throw this.#refused();
    if (result.isError || result.subtype !== 'success') return this.#afterFailure(turn, result);
    return this.#answer === undefined ? this.#takeText(turn, result) : this.#askForCall(turn);
  }

  #takeText(turn: CliTurn, result: CliResultLine): Next {
    const text = result.text ?? turn.text;
    const mayAsk = this.#mayGoOn();
    if (text.trim() === '' && this.#cutText === undefined) {
      if (this.#askedAgain || !mayAsk) return { outcome: this.#outcome(JSON.stringify(text), true) };
      this.#askedAgain = true;
      return { say: EMPTY };
    }
    if (turn.stopReason === 'max_tokens') {
      if (this.#cutText === undefined && mayAsk) {
        this.#cutText = text;
        return { say: GO_ON };
      }
      this.#note('The answer was cut off by the output limit; what there is of it is the value.');
    }
    return { outcome: this.#outcome(JSON.stringify((this.#cutText ?? '') + text), false) };
  }

  #askForCall({ rejection }: CliTurn): Next {
    if (!this.#mayGoOn()) throw this.#outOfTurns();
    if (rejection !== undefined) return { say: `${rejection}\n\n${NUDGE}` };
    if (this.#nudged) throw this.#noOutput();
    this.#nudged = true;
    return { say: NUDGE };
  }

  async #afterFailure(turn: CliTurn, result: CliResultLine): Promise<Next> {
    const { command, clock, report } = this.#parts;
    const verdict = judgeCliFailure(failureOfResult(command, result, turn.error), clock.now(), cutsOf(report));
    if (!verdict.retry) throw verdict.error;
    report.transcript?.({ type: 'error', transient: true, ...verdict.failure });
    const goOn = turn.messages > 0;
    if (!goOn) await this.#drop();
    await report.retry(verdict.failure);
    return { say: goOn ? AFTER_FAILURE : taskOf(this.#parts.request) };
  }

  async #afterCrash(turn: CliTurn): Promise<Next> {
    const { command, clock, report, request } = this.#parts;
    const end = await this.#process?.ended;
    throwIfAborted(this.#parts.signal);
    if (end === undefined) throw new WorkflowError('INTERNAL_INVARIANT', `${command} has no end.`);
    const verdict = judgeCrash(command, end, clock.now());
    if (!verdict.retry) throw verdict.error;
    report.transcript?.({ type: 'error', transient: true, ...verdict.failure });
    await this.#drop();
    await report.retry(verdict.failure);
    return { say: taskOf(turn.messages === 0 ? request : { ...request, attempt: Math.max(2, request.attempt ?? 0) }) };
  }

  async #drop(): Promise<void> {
    const cli = this.#process;
    this.#process = undefined;
    cli?.stop();
    await cli?.ended;
  }

  #mayGoOn(): boolean {
    const { maxTurns } = this.#parts.request.options;
    return maxTurns === undefined || this.#turnsUsed < maxTurns;
  }

  #note(text: string): void {
    this.#parts.report.transcript?.({ type: 'note', text });
  }

  #outcome(valueJson: string, empty: boolean): AgentOutcome {
    return {
      valueJson,
      empty,
      usage: this.#usage.total,
      toolUses: this.#toolUses,
      attempts: this.#answer?.attempts ?? 0,
    };
  }

  #outOfTurns(): WorkflowError {
    const { maxTurns } = this.#parts.request.options;
    const limit = maxTurns === undefined ? 'the limit of the CLI' : `its limit of ${maxTurns} (maxTurns)`;
    return new WorkflowError(
      'AGENT_MAX_TURNS',
      `The agent was not done after ${this.#turnsUsed} messages, ${limit}. Raise maxTurns, or ask for less in one call.`,
      { data: { maxTurns: maxTurns ?? this.#turnsUsed, lastText: this.#lastText } },
    );
  }

  #noOutput(): WorkflowError {
    return new WorkflowError(
      'AGENT_NO_OUTPUT',
      'The agent answered in text twice instead of calling StructuredOutput. Say in the prompt what each field should hold, or try a stronger model.',
      { data: { lastText: this.#lastText } },
    );
  }

  #neverValid({ text }: CliResultLine): WorkflowError {
    return new WorkflowError(
      'AGENT_OUTPUT_INVALID',
      `${this.#parts.command} gave up on an answer that fits the schema${text === undefined ? '' : `: ${text}`}. Loosen the schema, explain it in the prompt, or raise --max-structured-output-retries.`,
      { data: { lastText: this.#lastText, attempts: this.#answer?.attempts ?? 0 } },
    );
  }

  #refused(): WorkflowError {
    return new WorkflowError(
      'AGENT_API',
      'The model refused to answer this prompt. Reword the prompt, or use another model.',
      { data: { refusal: true, lastText: this.#lastText } },
    );
  }
}

function userLine(text: string): string {
  return JSON.stringify({
    type: 'user',
    message: { role: 'user', content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
    session_id: '',
  });
}
