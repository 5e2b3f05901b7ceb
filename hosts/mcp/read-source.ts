import { resolve } from 'node:path';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { readSavedWorkflow, readWorkflowFile, type SearchPlace } from '../saved-workflows/find-workflow.ts';

export type SourcePlace = SearchPlace;

export interface ScriptSource {
  readonly script?: string | undefined;
  readonly scriptPath?: string | undefined;
  readonly name?: string | undefined;
}

export interface ReadScript {
  readonly script: string;
  readonly fileName?: string;
  /** Absolute. */
  readonly scriptPath?: string;
}

/**
 * Reads the script that a call names: `scriptPath` goes before `name`, and that before `script` (H-1).
 *
 * @throws USAGE_INVALID when none is given; WORKFLOW_UNKNOWN, FILE_…, SCRIPT_TOO_LARGE
 */
export async function readSource({ script, scriptPath, name }: ScriptSource, place: SourcePlace): Promise<ReadScript> {
  if (scriptPath !== undefined) return found(await readWorkflowFile(resolve(place.cwd, scriptPath)));
  if (name !== undefined) return found(await readSavedWorkflow(name, place));
  if (script !== undefined) return { script };
  throw new WorkflowError('USAGE_INVALID', 'No workflow is named: give scriptPath, name or script.');
}

function found({ text, fileName, path }: Awaited<ReturnType<typeof readWorkflowFile>>): ReadScript {
  return { script: text, fileName, scriptPath: path };
}
