import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { isWorkflowError, WorkflowError } from '../protocol/workflow-error.ts';
import type { FoundWorkflow, WorkflowOptions } from './run-options.ts';
import type { ErrorForGuest, GuestWorkflowCall, SandboxProgram } from './sandbox/sandbox.ts';
import { type ParsedScript, parseScript } from './script/parse-script.ts';

/** How files of scripts are named. */
const SCRIPT_NAME = /\.[cm]?[jt]s$/i;

type FindWorkflow = NonNullable<WorkflowOptions['findWorkflow']>;

/** What the sandbox is told about a nested workflow. */
export type NestedAnswer =
  | { readonly ok: true; readonly program: SandboxProgram; readonly name: string }
  | { readonly ok: false; readonly error: ErrorForGuest };

/** Finds, reads and checks the workflows that a script calls with `workflow()` (S-18). */
export class NestedWorkflows {
  readonly #find: FindWorkflow;
  /** Directory of each file that may call, for relative paths. */
  readonly #directories = new Map<string, string>();
  readonly #fallback: string;

  constructor(find: FindWorkflow | undefined, rootFileName: string, rootDirectory: string) {
    this.#find = find ?? readByPath;
    this.#fallback = rootDirectory;
    this.#directories.set(rootFileName, rootDirectory);
  }

  /** Never rejects: a workflow that cannot run is an error for the script. */
  async find(call: GuestWorkflowCall): Promise<NestedAnswer> {
    try {
      const found = await this.#find(call.ref, this.#directories.get(call.callerFile) ?? this.#fallback);
      const script = parseFound(found);
      this.#directories.set(script.fileName, dirname(found.path));
      return {
        ok: true,
        name: script.meta.name,
        program: {
          fileName: script.fileName,
          code: script.code,
          metaJson: JSON.stringify(script.meta),
          argsJson: call.argsJson,
        },
      };
    } catch (error) {
      return { ok: false, error: forGuest(error) };
    }
  }
}

/** What is wrong with a script is said with its text. No script may read other files that way. */
function parseFound({ text, fileName }: FoundWorkflow): ParsedScript {
  try {
    return parseScript(text, { fileName });
  } catch (error) {
    if (!isWorkflowError(error) || SCRIPT_NAME.test(fileName)) throw error;
    const message = `${fileName} is no workflow script. Name a file that ends in .js or .ts; wf check says what is wrong with this one.`;
    throw new WorkflowError(error.code, message);
  }
}

function forGuest(error: unknown): ErrorForGuest {
  if (isWorkflowError(error)) return { name: 'WorkflowError', code: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  return { name: 'Error', code: 'WORKFLOW_UNKNOWN', message };
}

/** What a library user gets without a finder of their own: files only. */
const readByPath: FindWorkflow = async (ref, callerDirectory): Promise<FoundWorkflow> => {
  if ('name' in ref) {
    throw new WorkflowError(
      'WORKFLOW_UNKNOWN',
      `There is no saved workflow "${ref.name}": saved workflows are not looked up here. Call workflow({ scriptPath }) instead, or pass findWorkflow.`,
    );
  }
  const path = resolve(callerDirectory, ref.scriptPath);
  try {
    return { text: await readFile(path, 'utf8'), fileName: basename(path), path };
  } catch (error) {
    throw new WorkflowError(
      'FILE_MISSING',
      `The workflow file ${ref.scriptPath} cannot be read from ${callerDirectory}. Check the path.`,
      {
        cause: error,
      },
    );
  }
};
