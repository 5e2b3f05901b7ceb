import type { ErrorCode } from '../../protocol/error-codes.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { printable } from './printable.ts';
import type { ScriptFile } from './script-file.ts';
import { excerptAt } from './source-excerpt.ts';
import { placeAt } from './source-place.ts';

/** Makes an error about one place of a script, showing the place, its line and a caret. Source: spec S-6. */
export function scriptError(
  code: ErrorCode,
  file: ScriptFile,
  offset: number,
  what: string,
  hint?: string,
): WorkflowError {
  const at = Math.min(Math.max(offset, 0), file.source.length);
  const place = { file: file.fileName, ...placeAt(file.source, at) };
  const lines = [`${place.file}:${place.line}:${place.column}: ${printable(what)}`, excerptAt(file.source, at)];
  if (hint !== undefined) lines.push(`Hint: ${printable(hint)}`);
  return new WorkflowError(code, lines.join('\n'), { place });
}
