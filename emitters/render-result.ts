import type { RunOutput } from '../protocol/run-record.ts';

/**
 * Renders the result of a run for stdout in text mode: a string as it is, anything else as indented JSON, with a line feed
 * at the end. Empty when there is no result, or the run did not complete.
 *
 * The text goes out unchanged, control characters too, since programs read it; pass a terminal through `toTerminalText`.
 */
export function renderResult(output: Pick<RunOutput, 'status'>, resultJson: string | undefined): string {
  if (output.status !== 'completed' || resultJson === undefined) return '';
  const value: unknown = JSON.parse(resultJson);
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return text.endsWith('\n') ? text : `${text}\n`;
}
