import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Repository, refusal } from './find-repository.ts';
import type { Git } from './git.ts';
import { removeTree } from './remove-tree.ts';
import { TREES_FOLDER, type TreeRecord, treeNumber, treePath, treesFolder, writeTreeRecord } from './tree-record.ts';

/** Tries of one tree: git tidies up after most failures, and we after the rest. */
const TRIES = 3;
/** Branches of trees are together in one place. */
const BRANCHES = 'wf/';

/**
 * Makes a tree on a branch of its own; one at a time, under the lock of the repository.
 *
 * @throws WorkflowError `AGENT_ISOLATION` with what git says, and then nothing is left of it
 */
export async function makeTree(
  git: Git,
  { root, commonDirectory }: Pick<Repository, 'root' | 'commonDirectory'>,
  wanted: { readonly runId: string; readonly key: string; readonly number: number; readonly base: string },
): Promise<TreeRecord> {
  const { runId, key, number, base } = wanted;
  const name = `${runId}-${number}`;
  const record: TreeRecord = { name, runId, key, branch: `${BRANCHES}${name}`, base, ready: false };
  const path = treePath(root, record);
  try {
    await mkdir(treesFolder(root), { recursive: true });
    await hideFromStatus(commonDirectory);
    await writeTreeRecord(root, record);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw refusal(
      `${treesFolder(root)} cannot be written (${reason})`,
      'Make it writable, or leave isolation out',
      error,
    );
  }
  let said = '';
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const added = await git(root, 'worktree', 'add', '--no-track', '-b', record.branch, path, base);
    if (added.exitCode === 0) {
      const made = { ...record, ready: true };
      await writeTreeRecord(root, made);
      return made;
    }
    said = added.stderr;
    await removeTree(git, root, record, true);
    await writeTreeRecord(root, record);
  }
  await removeTree(git, root, record, true);
  throw refusal(`git could not make it in ${path}: ${said.slice(0, 500)}`, 'Mend that, or leave isolation out');
}

/** The lowest number that no tree and no branch of the run has had. */
export async function firstFreeNumber(git: Git, root: string, runId: string): Promise<number> {
  const folders = await readdir(treesFolder(root)).catch(() => []);
  const refs = await git(root, 'for-each-ref', '--format=%(refname:short)', `refs/heads/${BRANCHES}`);
  const names = [
    ...folders.map((name) => name.replace(/\.json$/, '')),
    ...refs.stdout.split('\n').map((branch) => branch.slice(BRANCHES.length)),
  ];
  return 1 + Math.max(0, ...names.filter((name) => name.startsWith(`${runId}-`)).map(treeNumber));
}

/** Keeps the folder of the trees out of `git status`, for this clone alone. */
async function hideFromStatus(commonDirectory: string): Promise<void> {
  const line = `/${TREES_FOLDER}/`;
  const path = join(commonDirectory, 'info/exclude');
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text.split(/\r?\n/).includes(line)) return;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`);
}
