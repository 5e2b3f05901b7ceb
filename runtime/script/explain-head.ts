import type { Token } from 'acorn';
import type { WorkflowError } from '../../protocol/workflow-error.ts';
import { binaryHint } from './binary-hint.ts';
import { moduleSyntaxError } from './module-syntax-error.ts';
import { scriptError } from './script-error.ts';
import type { ScriptFile } from './script-file.ts';
import { firstTokens, isWord, readTokens, tokenFailure } from './script-head.ts';

const EXAMPLE = "export const meta = { name: 'short-name', description: 'what it does' }";

/** Says what is wrong with a script that does not begin with `export const meta`. Source: spec S-2, S-6. */
export function explainHead(file: ScriptFile): WorkflowError {
  const { source } = file;
  const binary = binaryHint(source);
  if (binary !== undefined) return scriptError('SCRIPT_SYNTAX', file, 0, 'The script is not text.', binary);
  const [first, second, third] = firstTokens(source, 3);
  const start = first?.start ?? file.source.length - file.source.trimStart().length;
  if (source.startsWith('```', start)) {
    return metaError(file, start, 'The script begins with a Markdown fence, not with meta.', 'remove the ``` lines.');
  }
  if (first === undefined) return explainNoToken(file);
  const wordAt = (token: Token | undefined): string =>
    token === undefined ? '' : source.slice(token.start, token.end);
  if (wordAt(first) === 'export') {
    const isMeta = wordAt(third) === 'meta' || (wordAt(second) === '{' && wordAt(third) === 'meta');
    return isMeta ? explainOtherMeta(file, start, wordAt(second)) : moduleSyntaxError(file, start);
  }
  if (wordAt(first) === 'import') return moduleSyntaxError(file, start);
  if (['const', 'let', 'var'].includes(wordAt(first)) && wordAt(second) === 'meta') {
    return metaError(file, start, 'meta is not exported.', 'write `export const meta = {…}`.');
  }
  return explainLateOrMissing(file, start);
}

/** Nothing but space and comments, or something that is no token, for example a comment that never ends. */
function explainNoToken(file: ScriptFile): WorkflowError {
  const failure = tokenFailure(file.source);
  if (failure !== undefined) return scriptError('SCRIPT_SYNTAX', file, failure.offset, `${failure.message}.`);
  const what = file.source.trim() === '' ? 'The script is empty.' : 'The script has comments only, no code.';
  return scriptError('SCRIPT_EMPTY', file, 0, what, `A script begins with \`${EXAMPLE}\`.`);
}

function explainOtherMeta(file: ScriptFile, start: number, form: string): WorkflowError {
  return metaError(file, start, `meta is exported with \`export ${form}\`.`, 'write `export const meta = {…}`.');
}

function explainLateOrMissing(file: ScriptFile, start: number): WorkflowError {
  const late = findLateMeta(file.source);
  if (late === undefined) {
    return metaError(file, start, 'The script does not begin with its meta.', `begin it with \`${EXAMPLE}\`.`);
  }
  return metaError(
    file,
    start,
    `A statement stands before \`export const meta\` (line ${file.source.slice(0, late).split('\n').length}).`,
    'move meta to the top; only comments may precede it.',
  );
}

function metaError(file: ScriptFile, offset: number, what: string, todo: string): WorkflowError {
  const hint = `The first statement of a script is \`export const meta\`: ${todo}`;
  return scriptError('SCRIPT_META_INVALID', file, offset, what, hint);
}

function findLateMeta(source: string): number | undefined {
  let exportOffset: number | undefined;
  let depth = 0;
  for (const token of readTokens(source)) {
    if (exportOffset !== undefined && depth === 2 && isWord(source, token, 'meta')) return exportOffset;
    if (isWord(source, token, 'export')) {
      exportOffset = token.start;
      depth = 1;
    } else {
      depth = depth === 1 && /^(?:const|let|var)$/.test(source.slice(token.start, token.end)) ? 2 : 0;
    }
  }
  return undefined;
}
