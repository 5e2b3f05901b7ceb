import type { WorktreePlace } from '../../runtime/ports.ts';
import { findRepository } from './find-repository.ts';
import { createGit, type Git } from './git.ts';
import { inspectTree, tipOf } from './inspect-tree.ts';
import { removeTree } from './remove-tree.ts';
import { underLock, withTreeLock } from './tree-lock.ts';
import { readTreeRecords, type TreeRecord, treePath } from './tree-record.ts';

export interface CleanWorktreesOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly runId: string;
  /** Working directory of the run. */
  readonly cwd: string;
  /** Also those that hold work which is nowhere else, with their branches. */
  readonly force: boolean;
}

export interface CleanedWorktrees {
  readonly removed: readonly WorktreePlace[];
  /** Those that hold work which is nowhere else, or cannot be removed. */
  readonly kept: readonly WorktreePlace[];
}

/**
 * Removes what a run left of worktrees, whose process must be dead: those without changes, those whose commits were merged
 * into what is checked out, and with `force` all. Never rejects; without a repository there is nothing.
 */
export async function cleanWorktrees(options: CleanWorktreesOptions): Promise<CleanedWorktrees> {
  const git = createGit(options.env);
  const removed: WorktreePlace[] = [];
  const kept: WorktreePlace[] = [];
  try {
    const { root, commonDirectory } = await findRepository(git, options.cwd);
    if ((await readTreeRecords(root, options.runId)).length === 0) return { removed, kept };
    await withTreeLock(commonDirectory, async (lock) => {
      for (const record of await readTreeRecords(root, options.runId)) {
        const place = { path: treePath(root, record), branch: record.branch };
        (await clean(underLock(git, lock), root, record, options.force)) ? removed.push(place) : kept.push(place);
      }
    });
  } catch {
    // The repository is gone, and with it the trees.
  }
  return { removed, kept };
}

async function clean(git: Git, root: string, record: TreeRecord, force: boolean): Promise<boolean> {
  const state = record.ready ? await inspectTree(git, root, record) : 'broken';
  const holdsWork = state === 'changed' ? !(await isMerged(git, root, record)) : record.ready && state === 'broken';
  if (holdsWork && !force) return false;
  if ((await removeTree(git, root, record, force || !record.ready)) !== undefined) return false;
  const tip = await tipOf(git, root, record);
  if (tip !== undefined && (state !== 'broken' || force)) {
    await git(root, 'update-ref', '-d', `refs/heads/${record.branch}`, tip);
  }
  return true;
}

/** Whether nothing is uncommitted in a tree, and its commits are part of what the main working tree has checked out. */
async function isMerged(git: Git, root: string, record: TreeRecord): Promise<boolean> {
  const [status, head] = [
    await git(treePath(root, record), 'status', '--porcelain', '--untracked-files=normal').catch(() => undefined),
    await git(treePath(root, record), 'rev-parse', 'HEAD').catch(() => undefined),
  ];
  if (status?.exitCode !== 0 || status.stdout !== '' || head?.exitCode !== 0) return false;
  const commits = [head.stdout.trim(), (await tipOf(git, root, record)) ?? record.base];
  for (const commit of commits) {
    const ancestor = await git(root, 'merge-base', '--is-ancestor', commit, 'HEAD');
    if (ancestor.exitCode !== 0) return false;
  }
  return true;
}
