import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * The folders whose settings hold in a working directory: from the root of its project, where `.git` is, down to itself;
 * itself alone outside a repository. A folder above a project never has a say in it.
 */
export async function projectFolders(cwd: string): Promise<readonly string[]> {
  const upwards: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    upwards.push(folder);
    if (await exists(join(folder, '.git'))) return upwards.reverse();
    if (dirname(folder) === folder) return [cwd];
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
