import type { WorkflowError } from '../../protocol/workflow-error.ts';
import { scriptError } from './script-error.ts';
import type { ScriptFile } from './script-file.ts';
import { firstTokens } from './script-head.ts';

const NO_IMPORT =
  'A script has no modules; its globals are agent, parallel, pipeline, phase, log, workflow, budget, args. Let an agent read files or run programs.';

/** Refuses `import` and `export` at an offset, naming the form. Source: spec S-5, S-6. */
export function moduleSyntaxError(file: ScriptFile, offset: number): WorkflowError {
  const [keyword, second, third] = firstTokens(file.source.slice(offset), 3);
  const rest = file.source.slice(offset);
  const text = (token: typeof second): string => (token === undefined ? '' : rest.slice(token.start, token.end));
  const form =
    text(keyword) === 'import' ? importForm(text(second), text(third)) : exportForm(text(second), text(third));
  const hint = text(keyword) === 'import' ? importHint(form) : exportHint(form);
  return scriptError('SCRIPT_MODULE_SYNTAX', file, offset, `\`${form}\` is not allowed in a script.`, hint);
}

function importForm(second: string, third: string): string {
  if (second === '(') return 'import()';
  if (second === '.') return `import.${third}`;
  if (/^["']/.test(second)) return `import ${second}`;
  return second === 'type' ? 'import type … from' : `import ${/^\w/.test(second) ? second : '…'} from`;
}

function exportForm(second: string, third: string): string {
  if (second === '{') return 'export {…}';
  if (second === 'default' || second === '*') return `export ${second}`;
  return /^\w/.test(second) ? `export ${second} ${third}`.trim() : 'export';
}

function importHint(form: string): string {
  return form === 'import type … from' ? 'Declare the types in the script itself.' : NO_IMPORT;
}

function exportHint(form: string): string {
  if (form === 'export default') {
    return 'A script is the body of one async function: after `export const meta = {…}` put the statements at the top level and `return` the result.';
  }
  return 'Only `export const meta`, as the first statement, is exported: remove the word export here.';
}
