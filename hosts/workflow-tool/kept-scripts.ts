import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { nodeDisk } from '../../cache/disk.ts';
import { makePrivateDirectory } from '../../cache/private-directory.ts';
import { replaceFile } from '../../cache/replace-file.ts';

const SLUG_CHARACTERS = 40;

/** Where the scripts of runs lie so that a model can edit them; absolute. Source: spec H-3. */
export function keptScriptsFolder(stateRoot: string): string {
  return join(stateRoot, 'workflows', 'scripts');
}

/**
 * Writes a run's script to `<slug>-<runId>.js` (0600) and gives the path.
 *
 * @param fileName of the author's file: TypeScript keeps its ending, so that it is read as TypeScript again
 * @throws STATE_UNWRITABLE
 */
export async function keepScript(
  folder: string,
  script: { readonly name: string; readonly runId: string; readonly text: string; readonly fileName: string },
): Promise<string> {
  const ending = ['.ts', '.mts'].includes(extname(script.fileName)) ? extname(script.fileName) : '.js';
  const path = join(folder, `${fileSlug(script.name)}-${script.runId}${ending}`);
  await makePrivateDirectory(nodeDisk, folder);
  await replaceFile(nodeDisk, path, script.text);
  return path;
}

/** Finds the script that was kept for a run, whatever its name was then; undefined when there is none. */
export async function findKeptScript(folder: string, runId: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  const found = names.filter((name) => name.slice(0, -extname(name).length).endsWith(`-${runId}`)).sort()[0];
  return found === undefined ? undefined : join(folder, found);
}

/** Makes a part of a file name out of any text: `[a-z0-9-]`, at most 40 characters, never empty. */
export function fileSlug(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');
  const slug = plain.replace(/[^a-z0-9]+/g, '-').slice(0, SLUG_CHARACTERS);
  return slug.replace(/^-+|-+$/g, '') || 'workflow';
}
