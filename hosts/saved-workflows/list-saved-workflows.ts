import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { foldersUpwards } from './folders-upwards.ts';

const FOLDERS = ['.wf/workflows', '.claude/workflows', '.codebuddy/workflows'] as const;
const EXTENSIONS = ['.js', '.mjs', '.ts'] as const;

/** The folder of the workflows that come with the package (H-22). The build puts it beside the bundle, as it is beside this source. */
const BUILT_IN_FOLDER = join(import.meta.dirname, 'built-in');

/** A script that can be run by its name. */
export interface SavedWorkflow {
  /** The stem of the file. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** It comes with the package. */
  readonly builtIn: boolean;
}

/**
 * Lists what can be run by name, the nearest of each name only, sorted by name; those that are built in are the farthest.
 * Source: spec H-21. The files are not read: whether one holds a valid workflow is for the caller to find out.
 */
export async function listSavedWorkflows(cwd: string, homeDirectory: string): Promise<readonly SavedWorkflow[]> {
  const found = new Map<string, SavedWorkflow>();
  const add = (saved: SavedWorkflow): void => {
    if (!found.has(saved.name)) found.set(saved.name, saved);
  };
  for (const folder of foldersUpwards(cwd, homeDirectory)) {
    for (const sub of FOLDERS) {
      for (const saved of await workflowsIn(join(folder, sub))) add({ ...saved, builtIn: false });
    }
  }
  for (const saved of await workflowsIn(BUILT_IN_FOLDER)) add({ ...saved, builtIn: true });
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function workflowsIn(folder: string): Promise<readonly Omit<SavedWorkflow, 'builtIn'>[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .filter((entry) => (EXTENSIONS as readonly string[]).includes(extname(entry.name)))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((entry) => ({ name: entry.name.slice(0, -extname(entry.name).length), path: join(folder, entry.name) }));
}
