import type { WorkflowError } from '../../protocol/workflow-error.ts';
import { findBracketFaults } from './bracket-faults.ts';
import { moduleSyntaxError } from './module-syntax-error.ts';
import { type ParseFailure, parseAsModule, parseWrapped } from './parse-wrapped.ts';
import { scriptError } from './script-error.ts';
import { isTypeScript, type ScriptFile } from './script-file.ts';
import { placeAt } from './source-place.ts';
import { stripTypes } from './strip-types.ts';
import { syntaxHint } from './syntax-hint.ts';
import { blankExport, wrapProgram } from './wrap-program.ts';

/**
 * Says why a script does not parse. Source: spec S-6.
 *
 * @param body - The script as it was parsed: types stripped, `export` blanked.
 * @param failure - What the parser of the wrapped code said.
 */
export function explainSyntaxError(
  file: ScriptFile,
  body: string,
  exportOffset: number,
  failure: ParseFailure,
): WorkflowError {
  if (failure.kind === 'too-deep') return tooDeep(file, failure.offset);
  if (failure.kind === 'html-comment') {
    return scriptError(
      'SCRIPT_SYNTAX',
      file,
      failure.offset,
      `${failure.message}.`,
      'Put spaces between the operators.',
    );
  }
  // Parsed without the wrapper, so that a brace too many or too few is found where it stands.
  const asModule = parseAsModule(body);
  if (!asModule.ok && asModule.kind === 'too-deep') return tooDeep(file, asModule.offset);
  const startsModuleSyntax = /^(?:import|export)(?![\w$])/.test(body.slice(failure.offset, failure.offset + 7));
  if (startsModuleSyntax && (asModule.ok || failure.offset <= asModule.offset)) {
    return moduleSyntaxError(file, failure.offset);
  }
  const { message, offset } = asModule.ok ? failure : asModule;
  return syntaxError(file, offset, message, () => parsesWithoutTypes(file, exportOffset));
}

/** Says why types could not be stripped. */
export function explainStripFailure(file: ScriptFile, failure: ParseFailure): WorkflowError {
  if (failure.kind === 'too-deep') return tooDeep(file, deepestPlace(file.source));
  if (/^(?:import|export)(?![\w$])/.test(file.source.slice(failure.offset, failure.offset + 7))) {
    return moduleSyntaxError(file, failure.offset);
  }
  if (/not supported in strip-only mode$/.test(failure.message)) {
    const what = failure.message.replace(/ is not supported in strip-only mode$/, '');
    return scriptError(
      'SCRIPT_SYNTAX',
      file,
      failure.offset,
      `A ${what} cannot be stripped: it is code, not only a type.`,
      'Use plain JavaScript for it, for example a constant object in place of an enum.',
    );
  }
  const offset =
    failure.offset < file.source.length ? failure.offset : (findBracketFaults(file.source).stray ?? failure.offset);
  return syntaxError(file, offset, failure.message, () => false);
}

function syntaxError(file: ScriptFile, offset: number, message: string, isTyped: () => boolean): WorkflowError {
  return scriptError(
    'SCRIPT_SYNTAX',
    file,
    offset,
    `${describe(file.source, offset, message)}.`,
    syntaxHint(file, offset, message, isTyped),
  );
}

function tooDeep(file: ScriptFile, offset: number): WorkflowError {
  const hint = 'Split the expression over several statements.';
  return scriptError('SCRIPT_SYNTAX', file, offset, 'The script is nested too deeply to be parsed.', hint);
}

/** The type stripper does not say where it gave up: that is where the parser does, or else the deepest bracket. */
function deepestPlace(source: string): number {
  const parsed = parseAsModule(source);
  return !parsed.ok && parsed.kind === 'too-deep' ? parsed.offset : findBracketFaults(source).deepest;
}

/** The parser's words, with the token that it did not expect. */
function describe(source: string, offset: number, message: string): string {
  if (message !== 'Unexpected token') return message.replace(/\.$/, '');
  if (offset >= source.trimEnd().length) return describeEnd(source);
  const token = /^(?:[\p{ID_Start}$_][\p{ID_Continue}$]{0,39}|[\d.]{1,20}|[=!<>&|+*?-]{1,3}|.)/su.exec(
    source.slice(offset, offset + 80),
  );
  return `Unexpected token '${token?.[0] ?? ''}'`;
}

function describeEnd(source: string): string {
  const { unclosed } = findBracketFaults(source);
  if (unclosed === undefined) return 'Unexpected end of the script';
  const { line, column } = placeAt(source, unclosed);
  return `Unexpected end of the script: the ${source[unclosed]} at ${line}:${column} is not closed`;
}

function parsesWithoutTypes(file: ScriptFile, exportOffset: number): boolean {
  if (isTypeScript(file.fileName)) return false;
  const body = blankExport(file.source, exportOffset);
  const stripped = stripTypes(body);
  return stripped.ok && tookOnlyTypes(body, stripped.value) && parseWrapped(wrapProgram(stripped.value)).ok;
}

/** A backtick that went is a broken prompt, `a ! = b` a mistyped operator; neither is a type that somebody wrote. */
function tookOnlyTypes(body: string, stripped: string): boolean {
  let isTyped = false;
  for (let at = 0; at < body.length; at += 1) {
    if (body[at] === stripped[at]) continue;
    if (body[at] === '`' || (body[at] === '!' && /\s/.test(body[at - 1] ?? ''))) return false;
    isTyped = true;
  }
  return isTyped;
}
