import type { AgentReporter, Clock } from '../../runtime/ports.ts';
import type { ToolCall } from '../model-turns.ts';
import { STRUCTURED_OUTPUT } from '../model-turns.ts';
import type { StructuredAnswer } from '../structured-answer.ts';
import { MCP_STRUCTURED_OUTPUT } from './cli-arguments.ts';
import { type CliAssistantLine, type CliResultLine, type CliToolResult, readCliLine } from './cli-line.ts';
import type { CliUsage } from './cli-usage.ts';

/** Where the lines of a turn come from. */
export interface CliLines {
  nextLine(): Promise<string | undefined>;
  /** Ends the lines, whatever may still come. */
  closeOutput(): void;
  /** Keeps what is no line of the protocol. */
  noise(text: string): void;
}

export interface CliTurnParts {
  readonly report: AgentReporter;
  /** Undefined for a call without a schema. */
  readonly answer: StructuredAnswer | undefined;
  readonly usage: CliUsage;
  readonly lines: CliLines;
  readonly clock: Clock;
}

/** How long a CLI may take to say what an agent cost, once its answer is known. */
const SETTLE_MS = 5_000;

/** One turn of an agent CLI: everything from a message of ours to its result line, or to the end of the process. */
export class CliTurn {
  /** The end of the turn; undefined when the process ended first. */
  result: CliResultLine | undefined;
  /** JSON text of the last valid answer. */
  valueJson: string | undefined;
  /** What was wrong with the last invalid one. */
  rejection: string | undefined;
  /** The CLI's class of error. */
  error: string | undefined;
  stopReason: string | null = null;
  /** Text of the last message that had one. */
  text = '';
  messages = 0;
  toolUses = 0;
  readonly #parts: CliTurnParts;
  /** Calls of StructuredOutput by their ids. */
  readonly #answers = new Set<string>();
  readonly #open = new Set<string>();
  #messageId: string | undefined;
  #model: string | undefined;

  constructor(parts: CliTurnParts) {
    this.#parts = parts;
  }

  async follow(): Promise<void> {
    const { lines, clock, answer } = this.#parts;
    let settle: { cancel(): void } | undefined;
    for (;;) {
      const line = await lines.nextLine();
      if (line === undefined) break;
      this.#take(line);
      if (this.result !== undefined) break;
      if (this.valueJson !== undefined) settle ??= clock.after(SETTLE_MS, () => lines.closeOutput());
      else if (answer?.usedUp === true) break;
    }
    settle?.cancel();
    for (const id of this.#open) this.#parts.report.toolFinished(id, false);
  }

  #take(text: string): void {
    const { report, lines } = this.#parts;
    const line = readCliLine(text);
    report.alive();
    switch (line.type) {
      case 'init':
        this.#model = line.model;
        report.transcript?.({ type: 'note', text: 'started', model: line.model ?? null });
        return;
      case 'assistant':
        this.#takeMessage(line);
        return;
      case 'tool_results':
        for (const result of line.results) this.#takeToolResult(result);
        return;
      case 'result':
        this.#takeResult(line);
        return;
      case 'noise':
        lines.noise(line.text);
        return;
      case 'other':
        return;
    }
  }

  #takeMessage(line: CliAssistantLine): void {
    const { report, usage } = this.#parts;
    const { blocks, messageId, stopReason } = line;
    if (line.error !== undefined) {
      // The CLI's own report of a failed request, in the form of a message.
      this.error = line.error;
      return;
    }
    // An answer is complete with its message; a later message is not part of it.
    const isNew = messageId === undefined || messageId !== this.#messageId;
    if (isNew && this.valueJson !== undefined) return;
    if (isNew) this.messages += 1;
    this.#messageId = messageId;
    this.stopReason = stopReason ?? (isNew ? null : this.stopReason);
    const used = line.usage === undefined ? undefined : usage.message(messageId, line.usage);
    if (used !== undefined) report.usage(used, line.model);
    report.transcript?.({ type: 'assistant', blocks, stopReason, ...(used === undefined ? {} : { usage: used }) });
    const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
    if (text !== '') this.text = text;
    const calls = blocks.filter((block) => block.type === 'tool_use');
    this.#judge(calls.filter(({ name }) => this.#isAnswer(name)));
    for (const { id, name } of calls) {
      if (this.#isAnswer(name)) continue;
      this.toolUses += 1;
      this.#open.add(id);
      report.toolStarted(id, name);
    }
  }

  #isAnswer(name: string): boolean {
    return this.#parts.answer !== undefined && (name === STRUCTURED_OUTPUT || name === MCP_STRUCTURED_OUTPUT);
  }

  #judge(calls: readonly ToolCall[]): void {
    const { answer } = this.#parts;
    if (answer === undefined || calls.length === 0) return;
    for (const { id } of calls) this.#answers.add(id);
    const { valueJson, rejections } = answer.judge(calls, this.stopReason === 'max_tokens' ? calls.at(-1) : undefined);
    if (valueJson !== undefined) this.valueJson = valueJson;
    this.rejection = valueJson === undefined ? rejections[0]?.content : undefined;
  }

  #takeToolResult({ toolUseId, content, isError }: CliToolResult): void {
    const { report } = this.#parts;
    report.transcript?.({ type: 'tool_result', toolUseId, content, isError });
    if (this.#open.delete(toolUseId)) report.toolFinished(toolUseId, !isError);
  }

  #takeResult(line: CliResultLine): void {
    const { report, usage, answer } = this.#parts;
    this.result = line;
    this.stopReason ??= line.stopReason;
    const used = usage.result(line);
    if (used !== undefined) report.usage(used, this.#model);
    // A CLI may take the answer without showing the call.
    if (answer !== undefined && line.structuredJson !== undefined && this.#answers.size === 0) {
      this.#judge([{ type: 'tool_use', id: 'result', name: STRUCTURED_OUTPUT, rawInput: line.structuredJson }]);
    }
  }
}
