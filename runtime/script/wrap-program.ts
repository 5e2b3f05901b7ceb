import { PROGRAM_PARAMETERS } from './program-parameters.ts';

const PREFIX = `(function (${PROGRAM_PARAMETERS.join(', ')}) { return async function () { "use strict";\n`;
/** Offset in wrapped code at which further parameters of the program may follow. */
export const PARAMETERS_END = PREFIX.indexOf(')');

const SUFFIX = '\n} })';

/**
 * Makes the text of a script fit for a function body without moving any of it: the `export` before `meta` becomes spaces, and
 * the `#!` of an interpreter line becomes `//`.
 */
export function blankExport(source: string, exportOffset: number): string {
  const start = source.startsWith('#!') ? '//' : source.slice(0, 2);
  const blanked = source.slice(0, exportOffset) + ' '.repeat('export'.length) + source.slice(exportOffset + 6);
  return exportOffset < 2 ? blanked : start + blanked.slice(2);
}

/** Wraps a body in the functions that the sandbox compiles; see `ParsedScript.code`. */
export function wrapProgram(body: string): string {
  return PREFIX + body + SUFFIX;
}

/** Turns an offset in wrapped code into one in the script. */
export function toSourceOffset(codeOffset: number): number {
  return codeOffset - PREFIX.length;
}
