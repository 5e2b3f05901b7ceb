import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Worktree, WorktreeEnd, Worktrees } from '../../runtime/ports.ts';
import { countUncommitted, findRepository, type Repository, startCommit } from './find-repository.ts';
import { createGit, type Git } from './git.ts';
import { inspectTree } from './inspect-tree.ts';
import { firstFreeNumber, makeTree } from './make-tree.ts';
import { removeTree } from './remove-tree.ts';
import { underLock, withTreeLock } from './tree-lock.ts';
import { readTreeRecords, type TreeRecord, treePath } from './tree-record.ts';

export interface GitWorktreesOptions {
  /** Environment of the git processes. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Trees that are looked at and removed at once. */
const PARALLEL_ENDS = 4;

type Wanted = Parameters<Worktrees['open']>[0];

/** What one run has in one repository. */
interface RunTrees {
  readonly repository: Repository;
  /** Left by earlier launches, with work in them, by key of the agent. */
  readonly left: Map<string, TreeRecord>;
  nextNumber: number;
  /** It was said that the trees do not have what is not committed. */
  warned: boolean;
}

/** Makes worktrees of git repositories, below `.wf/worktrees` of each. Source: spec A-30. */
export function createGitWorktrees({ env }: GitWorktreesOptions): Worktrees {
  return new GitWorktrees(createGit(env));
}

class GitWorktrees implements Worktrees {
  readonly #git: Git;
  readonly #oneByOne = pLimit(1);
  readonly #ends = pLimit(PARALLEL_ENDS);
  /** By run and working directory. */
  readonly #runs = new Map<string, Promise<RunTrees>>();

  constructor(git: Git) {
    this.#git = git;
  }

  open(wanted: Wanted): Promise<Worktree> {
    return this.#oneByOne(() => this.#open(wanted));
  }

  async sweep({ runId, cwd }: { readonly runId: string; readonly cwd: string }): Promise<void> {
    await this.#oneByOne(async () => {
      const trees = this.#runTrees({ runId, cwd });
      await trees.catch(() => {}); // there is no repository any more; who opens a tree is told
    });
  }

  async #open(wanted: Wanted): Promise<Worktree> {
    const { runId, key, cwd } = wanted;
    const trees = await this.#runTrees(wanted);
    const { repository, left } = trees;
    const earlier = left.get(key);
    left.delete(key);
    if (earlier !== undefined) return this.#worktree(repository, earlier, true);
    const base = await startCommit(this.#git, cwd);
    await this.#warnOfUncommitted(trees, wanted.warn);
    const number = trees.nextNumber;
    trees.nextNumber += 1;
    const record = await withTreeLock(repository.commonDirectory, (lock) =>
      makeTree(underLock(this.#git, lock), repository, { runId, key, number, base }),
    );
    return this.#worktree(repository, record, false);
  }

  #runTrees(wanted: Pick<Wanted, 'runId' | 'cwd'>): Promise<RunTrees> {
    const id = `${wanted.runId} ${wanted.cwd}`;
    let trees = this.#runs.get(id);
    if (trees === undefined) {
      trees = this.#begin(wanted);
      this.#runs.set(id, trees);
      trees.catch(() => this.#runs.delete(id)); // it may be mended while the run goes on
    }
    return trees;
  }

  /** Finds the repository, and what earlier launches of the run left in it. */
  async #begin({ runId, cwd }: Pick<Wanted, 'runId' | 'cwd'>): Promise<RunTrees> {
    const repository = await findRepository(this.#git, cwd);
    const left = await this.#takeStock(repository, runId);
    const nextNumber = await firstFreeNumber(this.#git, repository.root, runId);
    return { repository, left, nextNumber, warned: false };
  }

  /** Says once a run that trees do not have what is not committed. */
  async #warnOfUncommitted(trees: RunTrees, warn: (text: string) => void): Promise<void> {
    if (trees.warned) return;
    trees.warned = true;
    const { toplevel } = trees.repository;
    const count = await countUncommitted(this.#git, toplevel);
    if (count === 0) return;
    const paths = count === 1 ? '1 path has' : `${count} paths have`;
    warn(`${paths} changes in ${toplevel} that are not committed: worktrees start from its last commit, without them.`);
  }

  /** Removes the trees of a run that hold no work, and gives the others; once no git of a killed launch works on them any more. */
  async #takeStock({ root, commonDirectory }: Repository, runId: string): Promise<Map<string, TreeRecord>> {
    const left = new Map<string, TreeRecord>();
    if ((await readTreeRecords(root, runId)).length === 0) return left;
    await withTreeLock(commonDirectory, async (lock) => {
      const git = underLock(this.#git, lock);
      const records = await readTreeRecords(root, runId);
      const sort = async (record: TreeRecord): Promise<void> => {
        const state = record.ready ? await inspectTree(git, root, record) : 'broken';
        if (state === 'changed') left.set(record.key, record);
        else await removeTree(git, root, record, state === 'broken' && !record.ready);
      };
      const few = pLimit(PARALLEL_ENDS); // not those of trees that end, which may wait for the lock
      await Promise.all(records.map((record) => few(() => sort(record))));
    });
    return left;
  }

  async #worktree(repository: Repository, record: TreeRecord, hasEarlierWork: boolean): Promise<Worktree> {
    const { root, subdirectory } = repository;
    const path = treePath(root, record);
    const cwd = join(path, subdirectory);
    await mkdir(cwd, { recursive: true }); // a folder without a committed file is not in the tree
    return {
      path,
      branch: record.branch,
      ...(hasEarlierWork ? { hasEarlierWork } : {}),
      cwd,
      close: () => this.#ends(() => this.#close(repository, record)),
    };
  }

  async #close({ root, commonDirectory }: Repository, record: TreeRecord): Promise<WorktreeEnd> {
    try {
      const state = await inspectTree(this.#git, root, record);
      if (state === 'changed') return { kept: true };
      if (state === 'broken') return { kept: true, problem: 'git cannot say what is in it' };
      const problem = await withTreeLock(commonDirectory, (lock) =>
        removeTree(underLock(this.#git, lock), root, record, false),
      );
      return problem === undefined ? { kept: false } : { kept: true, problem };
    } catch (error) {
      return { kept: true, problem: error instanceof Error ? error.message : String(error) };
    }
  }
}
