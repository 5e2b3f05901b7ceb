import type { RunOutput } from '../../protocol/run-record.ts';
import type { TextOutput } from './text-output.ts';

/**
 * Writes the one object of `--output-format json` as a line. The text of the result is put in as it is, so that a large
 * one is neither parsed nor copied, and its key order stays. Source: spec C-6.
 */
export function writeRunOutput(
  out: TextOutput,
  output: Omit<RunOutput, 'result'>,
  resultJson: string | undefined,
): void {
  if (resultJson === undefined) {
    out.write(`${JSON.stringify(output)}\n`);
    return;
  }
  const { status, runId, ...rest } = output;
  const head = JSON.stringify({ status, runId });
  out.write(`${head.slice(0, -1)},"result":`);
  out.write(resultJson);
  out.write(`,${JSON.stringify(rest).slice(1)}\n`);
}
