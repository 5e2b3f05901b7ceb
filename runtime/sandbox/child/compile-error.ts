import { authorColumn } from '../../../dsl/inserted-text.ts';
import type { ErrorData } from '../../../dsl/wire.ts';
import type { SandboxProgram } from '../sandbox.ts';

/**
 * Describes why the engine would not compile a program that the parser took, for example a flag of a regular expression.
 * The module appends ` [file:line:column]` to the message.
 */
export function compileError(error: unknown, program: SandboxProgram): ErrorData {
  const message = error instanceof Error ? error.message : String(error);
  const name = error instanceof Error ? error.name : 'SyntaxError';
  const place = /^(.*?)\s*\[([^[\]]+):(\d+):(\d+)\]$/s.exec(message);
  if (place === null) return { name, message };
  const [, text, , line, column] = place as unknown as [string, string, string, string, string];
  const shown = program.code.split('\n')[Number(line)] ?? '';
  return {
    name,
    message: text,
    file: program.fileName,
    line: Number(line),
    column: authorColumn(shown, Number(column)),
  };
}
