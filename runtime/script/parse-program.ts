import type { FunctionExpression } from 'acorn';
import { explainHead } from './explain-head.ts';
import { explainStripFailure, explainSyntaxError } from './explain-syntax-error.ts';
import { parseWrapped } from './parse-wrapped.ts';
import { isTypeScript, type ScriptFile } from './script-file.ts';
import { findMetaExport } from './script-head.ts';
import { stripTypes } from './strip-types.ts';
import { blankExport, wrapProgram } from './wrap-program.ts';

/** A script's syntax tree and the code it was parsed from. Offsets of nodes are offsets in `code`. */
export interface ScriptProgram {
  readonly code: string;
  /** The author's async function; its first statement is the wrapper's `"use strict"`. */
  readonly main: FunctionExpression;
}

/** Finds `meta`, strips types, wraps and parses. @throws SCRIPT_EMPTY, SCRIPT_SYNTAX, SCRIPT_META_INVALID, SCRIPT_MODULE_SYNTAX */
export function parseProgram(file: ScriptFile): ScriptProgram {
  const exportOffset = findMetaExport(file.source);
  if (exportOffset === undefined) throw explainHead(file);
  let body = blankExport(file.source, exportOffset);
  if (isTypeScript(file.fileName)) {
    const stripped = stripTypes(body);
    if (!stripped.ok) throw explainStripFailure(file, stripped);
    body = stripped.value;
  }
  const code = wrapProgram(body);
  const parsed = parseWrapped(code);
  if (!parsed.ok) throw explainSyntaxError(file, body, exportOffset, parsed);
  return { code, main: parsed.value };
}
