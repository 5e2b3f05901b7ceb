import type { ClientUserMessage } from '../../protocol/stdio-input.ts';
import { toErrorRecord } from '../../protocol/workflow-error.ts';
import type { EndedRun } from '../workflow-tool/background-run.ts';
import { promptBudget } from './prompt-budget.ts';
import { parseSlashCommand, type SlashCommand } from './slash-command.ts';
import type { SlashWorkflows } from './slash-workflows.ts';
import type { StoppedBy, TaskWatch } from './task-watch.ts';
import { Turn, type TurnOutcome } from './turn.ts';
import { answerByModel, sayAsAssistant, sayResult, type TurnRunnerOptions } from './turn-runner.ts';
import { userText } from './user-text.ts';
import type { WorkflowLauncher } from './workflow-launcher.ts';

export interface SessionOptions extends TurnRunnerOptions {
  readonly watch: TaskWatch;
  readonly launcher: WorkflowLauncher;
  readonly workflows: SlashWorkflows;
  /** Writes the first line of a turn. */
  readonly sayInit: () => void;
  readonly source: 'startup' | 'resume';
  /** Repeats each message of the client's when its turn begins. */
  readonly replayUserMessages: boolean;
}

type QueuedTurn =
  | { readonly type: 'user'; readonly message: ClientUserMessage; readonly text: string }
  | { readonly type: 'notification'; readonly ended: EndedRun };

/** Uuids of messages that an interrupt leaves waiting, or drops. */
export interface QueuedMessages {
  readonly stillQueued: readonly string[];
  readonly cancelled: readonly string[];
}

/**
 * A session of the stdio host: turns one after the other, workflows beside them.
 *
 * Contract:
 * - A turn begins with `init` and ends with exactly one `result`. The end of a workflow waits for the turn under way and
 *   gets a turn of its own; that of one which the client or the model stopped gets none, and is noted for the next.
 * - `done` resolves once the input has ended and every turn, run and notification that it caused is over.
 */
export class Session {
  readonly #options: SessionOptions;
  #queue: QueuedTurn[] = [];
  #current: Turn | undefined;
  #inputEnded = false;
  #begun = false;
  readonly #done = Promise.withResolvers<void>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Takes a message of the client's; its turn begins at once when none is under way. */
  submit(message: ClientUserMessage): void {
    const text = userText(message);
    if (message.shouldQuery === false) this.#options.transcript.note(text);
    else this.#enqueue({ type: 'user', message, text });
  }

  /** A run has ended by itself: the conversation hears of it in its own turn. */
  deliver(ended: EndedRun): void {
    this.#enqueue({ type: 'notification', ended });
  }

  /** A run was stopped. Who stopped it knows; the model hears of the client's stop with the next message. */
  noteStopped({ notification }: EndedRun, by: StoppedBy): void {
    if (by === 'client') this.#options.transcript.note(notification);
  }

  /** Tells which messages wait for their turn, and drops them where that is wanted. */
  queued(drop: boolean): QueuedMessages {
    const uuids = this.#queue.flatMap((turn) =>
      turn.type === 'user' && turn.message.uuid !== undefined ? [turn.message.uuid] : [],
    );
    if (!drop) return { stillQueued: uuids, cancelled: [] };
    this.#queue = this.#queue.filter(({ type }) => type !== 'user');
    return { stillQueued: [], cancelled: uuids };
  }

  /** Ends the turn under way and every run. Messages that wait stay. */
  interrupt(): void {
    this.#options.watch.stopAll('client', 'The session was interrupted');
    this.#current?.controller.abort();
  }

  /** Drops a message that still waits. */
  cancelMessage(uuid: string): boolean {
    const before = this.#queue.length;
    this.#queue = this.#queue.filter((turn) => turn.type !== 'user' || turn.message.uuid !== uuid);
    return this.#queue.length < before;
  }

  /** No message comes any more; what was begun goes on. */
  endInput(): void {
    this.#inputEnded = true;
    this.settle();
  }

  /** Ends everything at once. */
  shutDown(): void {
    this.#queue = [];
    this.interrupt();
    this.endInput();
  }

  /** Looks whether everything is over. Called when something has ended. */
  settle(): void {
    const { watch, launcher } = this.#options;
    const busy = this.#current !== undefined || this.#queue.length > 0 || !watch.isIdle || !launcher.isIdle;
    if (this.#inputEnded && !busy) this.#done.resolve();
  }

  #enqueue(turn: QueuedTurn): void {
    this.#queue.push(turn);
    this.#next();
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const queued = this.#queue.shift();
    if (queued === undefined) {
      this.settle();
      return;
    }
    const turn = this.#open(queued);
    this.#current = turn;
    void this.#run(queued, turn).finally(() => {
      this.#current = undefined;
      this.#next();
    });
  }

  #open(queued: QueuedTurn): Turn {
    const { clock, sayInit } = this.#options;
    const startedAtMs = clock.now();
    sayInit();
    return queued.type === 'user'
      ? new Turn({ startedAtMs, budget: promptBudget(queued.text) })
      : new Turn({ startedAtMs, origin: { kind: 'task-notification' } });
  }

  async #run(queued: QueuedTurn, turn: Turn): Promise<void> {
    const { lines, clock, costs } = this.#options;
    let outcome: TurnOutcome;
    try {
      await this.#begin();
      outcome =
        queued.type === 'user'
          ? await this.#answer(queued.message, queued.text, turn)
          : await this.#report(queued.ended, turn);
    } catch (error) {
      const { message, code } = toErrorRecord(error);
      outcome = turn.signal.aborted ? { type: 'interrupted' } : { type: 'failed', text: `${message} [${code}]` };
    }
    sayResult(outcome, turn, { lines, clock, totals: costs.fields() });
  }

  async #begin(): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    const { hooks, source, transcript } = this.#options;
    const context = (await hooks?.sessionStart(source))?.additionalContext;
    if (context !== undefined) transcript.note(context);
  }

  async #answer(message: ClientUserMessage, text: string, turn: Turn): Promise<TurnOutcome> {
    const { lines, transcript, watch, replayUserMessages } = this.#options;
    // So that the model hears of them with this message.
    await watch.stopped();
    if (replayUserMessages) {
      const { uuid } = message;
      lines.say({
        type: 'user',
        message: { role: 'user', content: text },
        parent_tool_use_id: null,
        isReplay: true,
        ...(uuid === undefined ? {} : { uuid }),
      });
    }
    if (turn.signal.aborted) return { type: 'interrupted' };
    if (text.trim() === '')
      return { type: 'failed', text: 'The message has no text. Send one, or run a saved workflow: /name args.' };
    transcript.user(text);
    const command = parseSlashCommand(text);
    return command === undefined ? answerByModel(turn, this.#options) : this.#runSaved(command, turn);
  }

  async #runSaved(command: SlashCommand, turn: Turn): Promise<TurnOutcome> {
    const outcome = await this.#options.workflows.run(command, turn);
    if (outcome.type === 'done' || outcome.type === 'failed') this.#options.transcript.assistant(outcome.text);
    return outcome;
  }

  /** Tells the model how a run ended and lets it answer; without one, says it in its place. */
  async #report(ended: EndedRun, turn: Turn): Promise<TurnOutcome> {
    const { lines, transcript, model } = this.#options;
    lines.say({
      type: 'user',
      message: { role: 'user', content: ended.notification },
      parent_tool_use_id: null,
      isSynthetic: true,
      origin: turn.origin,
    });
    transcript.user(ended.notification);
    if (model !== undefined) return answerByModel(turn, this.#options);
    const text = endText(ended);
    sayAsAssistant([{ type: 'text', text }], this.#options);
    transcript.assistant(text);
    return ended.output.status === 'completed'
      ? { type: 'done', text, stopReason: 'end_turn' }
      : { type: 'failed', text };
  }
}

/** Characters of a result in the host's own words; the file has it whole. */
const RESULT_CHARACTERS = 8_000;

function endText({ summary, resultJson, outputFile }: EndedRun): string {
  if (resultJson === undefined) return summary;
  const text = resultJson.startsWith('"') ? (JSON.parse(resultJson) as string) : resultJson;
  if (text.length <= RESULT_CHARACTERS) return `${summary}\n\n${text}`;
  return `${summary}\n\n${text.slice(0, RESULT_CHARACTERS).toWellFormed()}\n… [cut; the whole result is in ${outputFile}]`;
}
