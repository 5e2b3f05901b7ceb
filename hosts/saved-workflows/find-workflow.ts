import { existsSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { nearestWord } from '../../protocol/nearest-word.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { FoundWorkflow } from '../../runtime/run-options.ts';
import { listSavedWorkflows } from './list-saved-workflows.ts';
import { readScriptFile } from './read-text-file.ts';

const NAMES_SHOWN = 40;

/** Where names and relative paths are looked up; both absolute. */
export interface SearchPlace {
  readonly cwd: string;
  readonly homeDirectory: string;
}

/** Finds a nested workflow: by name, by path relative to the calling workflow's folder, else to the working directory. */
export async function findNestedWorkflow(
  ref: { readonly name: string } | { readonly scriptPath: string },
  callerDirectory: string,
  place: SearchPlace,
): Promise<FoundWorkflow> {
  if ('name' in ref) return readSavedWorkflow(ref.name, place);
  const nearCaller = resolve(callerDirectory, ref.scriptPath);
  if (isAbsolute(ref.scriptPath) || existsSync(nearCaller)) return readWorkflowFile(nearCaller);
  return readWorkflowFile(resolve(place.cwd, ref.scriptPath));
}

/**
 * Reads the saved workflow of a name (H-21). `hint` is put behind the name when there is none.
 *
 * @throws WORKFLOW_UNKNOWN, listing those that are; FILE_…, SCRIPT_TOO_LARGE
 */
export async function readSavedWorkflow(name: string, place: SearchPlace, hint = ''): Promise<FoundWorkflow> {
  const saved = await listSavedWorkflows(place.cwd, place.homeDirectory);
  const match = saved.find((workflow) => workflow.name === name);
  if (match !== undefined) return readWorkflowFile(match.path);
  // Loaded when something is wrong only: it reads and parses every file.
  const { describeSavedWorkflows } = await import('./describe-saved-workflows.ts');
  const names = (await describeSavedWorkflows(place)).map((workflow) => workflow.name);
  const near = nearestWord(name, names);
  throw new WorkflowError(
    'WORKFLOW_UNKNOWN',
    `there is no saved workflow named ${JSON.stringify(name)}${hint}. ${knownNames(names)}` +
      (near === undefined ? '' : ` Did you mean ${near}?`),
    { data: { known: names } },
  );
}

/** Reads a workflow by its absolute path. @throws FILE_…, SCRIPT_TOO_LARGE */
export async function readWorkflowFile(path: string): Promise<FoundWorkflow> {
  return { text: await readScriptFile(path), fileName: basename(path), path };
}

function knownNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  return names.length <= NAMES_SHOWN
    ? `Known are: ${shown}.`
    : `Known are: ${shown}, and ${names.length - NAMES_SHOWN} more (wf list --workflows).`;
}
