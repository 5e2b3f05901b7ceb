import type { WorkflowMeta } from '../../protocol/workflow-meta.ts';
import { parseScript } from '../../runtime/script/parse-script.ts';
import type { SearchPlace } from './find-workflow.ts';
import { listSavedWorkflows, type SavedWorkflow } from './list-saved-workflows.ts';
import { readScriptFile } from './read-text-file.ts';

/** A saved workflow that may run, and what it says of itself. */
export interface DescribedWorkflow extends SavedWorkflow {
  readonly meta: WorkflowMeta;
}

/**
 * Lists the saved workflows that may run. One that is no valid workflow is left out: it says why when it is named (H-21).
 * It hides one of its name that is farther away all the same.
 */
export async function describeSavedWorkflows(place: SearchPlace): Promise<readonly DescribedWorkflow[]> {
  const saved = await listSavedWorkflows(place.cwd, place.homeDirectory);
  const described = await Promise.all(saved.map(describe));
  return described.filter((one) => one !== undefined);
}

async function describe(saved: SavedWorkflow): Promise<DescribedWorkflow | undefined> {
  try {
    const { meta } = parseScript(await readScriptFile(saved.path), { fileName: saved.path });
    return { ...saved, meta };
  } catch {
    return undefined;
  }
}
