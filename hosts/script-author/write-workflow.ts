import { isWorkflowError, WorkflowError } from '../../protocol/workflow-error.ts';
import { checkScript } from '../../runtime/script/check-script.ts';
import { type ParsedScript, parseScript } from '../../runtime/script/parse-script.ts';
import { authorPrompt, type Rejected } from './author-prompt.ts';
import { scriptInAnswer } from './script-in-answer.ts';

export interface WriteOptions {
  readonly task: string;
  /** JSON text of the args that the script will get; undefined when there are none. */
  readonly argsJson?: string | undefined;
  /** Name shown in positions. */
  readonly fileName: string;
  /** Gives what a model answers. */
  ask(prompt: string): Promise<string>;
  /** Told of an answer that has to be mended. */
  onRejected?(rejected: Rejected, repair: number): void;
}

export interface WrittenWorkflow {
  readonly script: ParsedScript;
  /** What the checker still warns about. */
  readonly warnings: readonly string[];
  /** Times that the model was asked to mend what it wrote. */
  readonly repairs: number;
}

/** Source: spec C-4. */
const MOST_REPAIRS = 3;

/**
 * Has a model write a script, and mend it with the checker's own messages until it is valid and draws no warning. Source:
 * spec C-4.
 *
 * Contract: of scripts that are valid, the one with the fewest warnings counts. Nothing of a script is run.
 *
 * @throws WorkflowError `SCRIPT_…` when the script is still invalid after three repairs; its `data.script` is the last one
 */
export async function writeWorkflow(options: WriteOptions): Promise<WrittenWorkflow> {
  let best: WrittenWorkflow | undefined;
  let rejected: Rejected | undefined;
  let lastError: WorkflowError | undefined;
  for (let repairs = 0; repairs <= MOST_REPAIRS; repairs++) {
    const text = scriptInAnswer(await options.ask(authorPrompt(options.task, options.argsJson, rejected)));
    const checked = check(text, options.fileName);
    if ('script' in checked) {
      const { script, warnings } = checked;
      if (best === undefined || warnings.length < best.warnings.length) best = { script, warnings, repairs };
      if (warnings.length === 0) return best;
    } else {
      lastError = checked.error;
    }
    rejected = { script: text, faults: 'script' in checked ? checked.warnings : [checked.error.message] };
    if (repairs < MOST_REPAIRS) options.onRejected?.(rejected, repairs + 1);
  }
  if (best !== undefined) return best;
  throw stillInvalid(lastError, rejected?.script ?? '');
}

function check(
  text: string,
  fileName: string,
): { readonly script: ParsedScript; readonly warnings: readonly string[] } | { readonly error: WorkflowError } {
  try {
    const script = parseScript(text, { fileName });
    const found = checkScript(script).map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`);
    return { script, warnings: [...script.warnings, ...found] };
  } catch (error) {
    if (isWorkflowError(error) && error.kind === 'script') return { error };
    throw error;
  }
}

function stillInvalid(error: WorkflowError | undefined, script: string): WorkflowError {
  return new WorkflowError(
    error?.code ?? 'SCRIPT_EMPTY',
    `The model’s script is still invalid after ${MOST_REPAIRS} repairs. Say the task in other words, take a stronger model with --model, or mend the script by hand and run it with wf run. The last fault: ${error?.message ?? 'it is empty'}`,
    { data: { script }, ...(error?.place === undefined ? {} : { place: error.place }) },
  );
}
