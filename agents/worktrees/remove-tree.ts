import { rm } from 'node:fs/promises';
import type { Git } from './git.ts';
import { removeTreeRecord, type TreeRecord, treePath } from './tree-record.ts';

/**
 * Removes a tree, its branch and what is known of it. The branch goes only while it stands where it started, so that no
 * commit is ever lost.
 *
 * @param force also with changes in it, and when it was never finished
 * @returns why it is still there; undefined once it is gone
 */
export async function removeTree(
  git: Git,
  root: string,
  record: TreeRecord,
  force: boolean,
): Promise<string | undefined> {
  const path = treePath(root, record);
  const forced = force ? ['--force', '--force'] : [];
  const removed = await git(root, 'worktree', 'remove', ...forced, path);
  if (removed.exitCode !== 0) {
    // Not known to git: nothing that it could lose.
    const isUnknown = /is not a working tree/i.test(removed.stderr);
    if (!isUnknown) return removed.stderr.slice(0, 500) || 'git could not remove it';
    if (force) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
  await git(root, 'update-ref', '-d', `refs/heads/${record.branch}`, record.base);
  await removeTreeRecord(root, record);
  return undefined;
}
