import { countCharacters, preview } from '../protocol/preview.ts';
import type { RunOutput } from '../protocol/run-record.ts';

const RESULT_CHARACTERS = 8000;
const MAX_FAILURES = 20;
const FAILURE_CHARACTERS = 300;
const MAX_DIAGNOSTICS = 20;
const LINE_CHARACTERS = 1000;

/** How the model resumes the run: a call of the tool it started it with, or a command for a shell. */
export type RecoveryCall =
  | { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly command: string };

export interface TaskNotificationParts {
  readonly taskId: string;
  readonly toolUseId?: string | undefined;
  /** Absolute path of the file with the full result. */
  readonly outputFile: string;
  /** One line, for example of `describeEnd`. */
  readonly summary: string;
  readonly output: Omit<RunOutput, 'result'>;
  /** JSON text of the result; undefined when there is none. */
  readonly resultJson: string | undefined;
  /** What a person or model should know besides: warnings, limits. */
  readonly diagnostics?: readonly string[];
  /** Left out when there is nothing to resume. */
  readonly recovery?: RecoveryCall | undefined;
}

/**
 * Renders the message that tells a model how its workflow ended (E-16).
 *
 * Contract:
 * - Text from scripts and agents is escaped (`& < >`) and freed of control characters, so none of it can close or forge a
 *   tag. The result is cut at 8,000 characters, with a pointer to the file; the first 20 failures are listed.
 * - `<recovery>` works as printed: a tool's input is JSON in which those three characters are `\u` escapes; in a command
 *   only `<` is escaped.
 */
export function renderTaskNotification(parts: TaskNotificationParts): string {
  const { output, taskId, toolUseId, outputFile, summary, diagnostics = [], recovery } = parts;
  const lines = [
    tag('task-id', oneLine(taskId)),
    ...(toolUseId === undefined ? [] : [tag('tool-use-id', oneLine(toolUseId))]),
    tag('output-file', oneLine(outputFile)),
    tag('status', output.status === 'killed' ? 'stopped' : output.status),
    tag('summary', oneLine(summary)),
    ...resultLines(parts),
    ...block('diagnostics', diagnosticLines(diagnostics, output)),
    ...block('failures', failureLines(output.failures, outputFile)),
    ...(recovery === undefined ? [] : [tag('recovery', recoveryText(recovery))]),
    usageLine(output),
  ];
  return ['<task-notification>', ...lines, '</task-notification>'].join('\n');
}

const tag = (name: string, content: string): string => `<${name}>${content}</${name}>`;

function block(name: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`<${name}>`, ...lines, `</${name}>`];
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const oneLine = (text: string): string => escapeMarkup(preview(text, LINE_CHARACTERS));

/** Control characters but tab and line feed. */
const CONTROL = /[^\P{Cc}\t\n]/gu;

function resultLines({ resultJson, outputFile }: TaskNotificationParts): string[] {
  if (resultJson === undefined) return [];
  const text = resultText(resultJson).replaceAll('\r\n', '\n').replace(CONTROL, '').toWellFormed();
  const total = countCharacters(text);
  if (total <= RESULT_CHARACTERS) return [tag('result', escapeMarkup(text))];
  const kept = cutCharacters(text, RESULT_CHARACTERS);
  const pointer = `… [cut after ${RESULT_CHARACTERS} of ${total} characters; the whole result is in ${oneLine(outputFile)}]`;
  return [tag('result', `${escapeMarkup(kept)}\n${pointer}`)];
}

/** A string result as it is, any other as its JSON. */
function resultText(resultJson: string): string {
  return resultJson.startsWith('"') ? (JSON.parse(resultJson) as string) : resultJson;
}

function cutCharacters(text: string, characters: number): string {
  let units = 0;
  let left = characters;
  for (const character of text) {
    if (left-- === 0) break;
    units += character.length;
  }
  return text.slice(0, units);
}

function diagnosticLines(diagnostics: readonly string[], output: Omit<RunOutput, 'result'>): string[] {
  const all = [
    ...(output.simulated === true ? ['SIMULATED: no model answered; the agents’ answers are made up.'] : []),
    ...(output.error === undefined ? [] : [`${output.error.message} [${output.error.code}]${placeOf(output.error)}`]),
    ...(output.limits_hit.length === 0 ? [] : [`Limits hit: ${output.limits_hit.join(', ')}`]),
    ...diagnostics,
  ];
  const shown = all.slice(0, MAX_DIAGNOSTICS).map(oneLine);
  return all.length > MAX_DIAGNOSTICS ? [...shown, `… and ${all.length - MAX_DIAGNOSTICS} more`] : shown;
}

function placeOf({ line, column }: NonNullable<RunOutput['error']>): string {
  if (line === undefined) return '';
  return column === undefined ? ` at line ${line}` : ` at line ${line}, column ${column}`;
}

function failureLines(failures: RunOutput['failures'], outputFile: string): string[] {
  const shown = failures
    .slice(0, MAX_FAILURES)
    .map(({ label, code, message }) =>
      escapeMarkup(`${preview(label, 100)}: ${preview(message, FAILURE_CHARACTERS)} [${preview(code, 60)}]`),
    );
  if (failures.length <= MAX_FAILURES) return shown;
  return [...shown, `… and ${failures.length - MAX_FAILURES} more; all are in ${oneLine(outputFile)}`];
}

function recoveryText(recovery: RecoveryCall): string {
  if ('command' in recovery) return recovery.command.replaceAll('<', '&lt;');
  const input = JSON.stringify(recovery.input)
    .replaceAll('&', '\\u0026')
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replace(CONTROL, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `${escapeMarkup(recovery.tool)}(${input})`;
}

function usageLine({ census, usage }: Omit<RunOutput, 'result'>): string {
  const fields: readonly (readonly [string, number | string])[] = [
    ['agent_count', census.agent_count],
    ['agents_done', census.agents_done],
    ['agents_error', census.agents_error],
    ['agents_skipped', census.agents_skipped],
    ['agents_cached', census.agents_cached],
    ['agents_cancelled', census.agents_cancelled],
    ['agents_empty_result', census.agents_empty_result],
    ['subagent_tokens', usage.total_tokens],
    ['tool_uses', usage.tool_uses],
    ['duration_ms', usage.duration_ms],
    ...(usage.cost_usd === undefined ? [] : [['cost_usd', usage.cost_usd ?? 'unknown'] as const]),
  ];
  return tag('usage', fields.map(([name, value]) => tag(name, String(value))).join(''));
}
