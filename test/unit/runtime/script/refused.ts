import { isWorkflowError, type WorkflowError } from '../../../../protocol/workflow-error.ts';
import { parseScript } from '../../../../runtime/script/parse-script.ts';

/** A valid first line, so that a case's own text begins at line 2. */
export const META = "export const meta = { name: 'case', description: 'a test' }\n";

/** The error that a script is refused with; fails when it is accepted. */
export function refused(text: string, fileName = 'script.js'): WorkflowError {
  try {
    parseScript(text, { fileName });
  } catch (error) {
    if (isWorkflowError(error)) return error;
    throw error;
  }
  throw new Error(`accepted: ${text.slice(0, 200)}`);
}

export function accepted(text: string, fileName = 'script.js') {
  return parseScript(text, { fileName });
}
