import type { WorkflowMeta } from '../../protocol/workflow-meta.ts';
import { normalizeText } from './normalize-text.ts';
import { parseProgram } from './parse-program.ts';
import { readMeta } from './read-meta.ts';
import { trackScopes } from './track-scopes.ts';
import { validateBody } from './validate-body.ts';

/** A script that may run. */
export interface ParsedScript {
  /** Name shown in positions and messages: the base name of the author's file, `stdin`, or `script.js`. */
  readonly fileName: string;
  /** The author's text with BOM and line ends normalised: what is hashed and stored. TypeScript is not stripped here. */
  readonly source: string;
  readonly meta: WorkflowMeta;
  /**
   * What the sandbox compiles: one function expression whose parameters are the workflow's globals and whose inner async,
   * strict function has the author's body, so that a local may shadow any global. Its first line is the author's line 0. Columns
   * are the author's once what `trackScopes` put in is left out.
   */
  readonly code: string;
  /** Said to a person, for example a malformed phase that was dropped. */
  readonly warnings: readonly string[];
}

/**
 * Parses and validates a script without running any of it. Source: spec S-1 to S-8.
 *
 * Contract:
 * - A `fileName` that ends in `.ts` or `.mts` has its types stripped in place, so every position is that of the author's text.
 * - The message of an error shows file, line, column, the offending line and a caret; `place` has the first three.
 *
 * @throws SCRIPT_EMPTY, SCRIPT_TOO_LARGE, SCRIPT_SYNTAX, SCRIPT_META_INVALID, SCRIPT_MODULE_SYNTAX, SCRIPT_NONDETERMINISTIC
 */
export function parseScript(text: string, options: { fileName: string }): ParsedScript {
  const file = { fileName: options.fileName, source: normalizeText(text, options.fileName) };
  const program = parseProgram(file);
  const { meta, warnings } = readMeta(file, program);
  validateBody(file, program);
  return { ...file, meta, code: trackScopes(program), warnings };
}
