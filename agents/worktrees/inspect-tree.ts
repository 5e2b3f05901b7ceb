import { stat } from 'node:fs/promises';
import type { Git } from './git.ts';
import { type TreeRecord, treePath } from './tree-record.ts';

/**
 * What became of a tree: `unchanged` since it was made, `changed` (commits, staged, unstaged or untracked files), `gone` from
 * the disk, or `broken`, so that git cannot say. Files that git ignores do not count.
 */
export type TreeState = 'unchanged' | 'changed' | 'gone' | 'broken';

export async function inspectTree(git: Git, root: string, record: TreeRecord): Promise<TreeState> {
  const path = treePath(root, record);
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    const tip = await tipOf(git, root, record);
    return tip === undefined || tip === record.base ? 'gone' : 'changed';
  }
  // A folder without a `.git` of its own would speak for the repository around it.
  const hasGit = await stat(`${path}/.git`).then(
    () => true,
    () => false,
  );
  if (!hasGit) return 'broken';
  const status = await git(
    path,
    'status',
    '--porcelain=v2',
    '--branch',
    '--untracked-files=normal',
    '--ignore-submodules=none',
  );
  if (status.exitCode !== 0) return 'broken';
  const lines = status.stdout.split('\n').filter((line) => line !== '');
  const isClean = lines.every((line) => line.startsWith('# '));
  const head = lines.find((line) => line.startsWith('# branch.oid '))?.slice('# branch.oid '.length);
  if (!isClean || head !== record.base) return 'changed';
  const tip = await tipOf(git, root, record);
  return tip === undefined || tip === record.base ? 'unchanged' : 'changed';
}

/** Commit of the tree's branch; undefined when there is no such branch. */
export async function tipOf(git: Git, root: string, { branch }: TreeRecord): Promise<string | undefined> {
  const found = await git(root, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`);
  return found.exitCode === 0 ? found.stdout.trim() : undefined;
}
