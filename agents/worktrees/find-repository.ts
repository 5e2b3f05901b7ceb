import { realpath } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { Git } from './git.ts';

/** The repository that a directory belongs to. */
export interface Repository {
  /** Where `.wf/worktrees` is: the main working tree, also for a directory in another one; absolute. */
  readonly root: string;
  /** Working tree that the directory is in; absolute. */
  readonly toplevel: string;
  /** The directory as seen from {@link toplevel}; empty for itself. */
  readonly subdirectory: string;
  /** Git's directory that all working trees share; absolute. */
  readonly commonDirectory: string;
}

/**
 * Finds the repository of a directory.
 *
 * @throws WorkflowError `AGENT_ISOLATION` outside of a repository, and where one has no working tree, no git is installed,
 *   or the directory is in a submodule
 */
export async function findRepository(git: Git, cwd: string): Promise<Repository> {
  const inside = await git(cwd, 'rev-parse', '--is-inside-work-tree', '--git-common-dir').catch((error: unknown) => {
    throw noGit(cwd, error);
  });
  if (inside.exitCode !== 0) throw noRepository(cwd, inside.stderr);
  const [isInside, commonDirectory = ''] = inside.stdout.split('\n');
  if (isInside !== 'true') {
    throw refusal(
      `${cwd} has no working tree of its own (it is a bare repository or a directory of git)`,
      'Run from a working tree',
    );
  }
  const top = await git(cwd, 'rev-parse', '--show-toplevel', '--show-superproject-working-tree');
  const [toplevel = '', superproject = ''] = top.stdout.split('\n');
  if (superproject !== '') {
    throw refusal(
      `${cwd} is in a submodule of ${superproject}`,
      'Worktrees of submodules are not made: run from a clone of its own',
    );
  }
  const list = await git(cwd, 'worktree', 'list', '--porcelain');
  const main = list.stdout.split('\n\n')[0] ?? '';
  const mainRoot = /^worktree (.*)$/m.exec(main)?.[1];
  return {
    root: mainRoot === undefined || /^bare$/m.test(main) ? toplevel : mainRoot,
    toplevel,
    subdirectory: relative(toplevel, await realpath(cwd)),
    commonDirectory: resolve(cwd, commonDirectory),
  };
}

/**
 * Gives the commit that trees of a directory start from.
 *
 * @throws WorkflowError `AGENT_ISOLATION` when there is none yet, or it has submodules, which a new tree would leave empty
 */
export async function startCommit(git: Git, cwd: string): Promise<string> {
  const head = await git(cwd, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
  if (head.exitCode !== 0) {
    throw refusal(`the repository of ${cwd} has no commit yet`, 'Commit once, since a worktree starts from a commit');
  }
  const commit = head.stdout.trim();
  const modules = await git(cwd, 'config', '--blob', `${commit}:.gitmodules`, '--get-regexp', '\\.path$');
  if (modules.exitCode === 0 && modules.stdout.trim() !== '') {
    const paths = modules.stdout.trim().split('\n');
    const names = paths.slice(0, 3).map((line) => line.slice(line.indexOf(' ') + 1));
    const more = paths.length > 3 ? ` and ${paths.length - 3} more` : '';
    throw refusal(
      `the repository of ${cwd} has submodules (${names.join(', ')}${more}), which a worktree would leave empty`,
      'Leave isolation out, or run in a repository without submodules',
    );
  }
  return commit;
}

/** How many files differ from the last commit; those that git ignores do not count. */
export async function countUncommitted(git: Git, toplevel: string): Promise<number> {
  const { stdout } = await git(toplevel, 'status', '--porcelain', '--untracked-files=normal');
  return stdout.split('\n').filter((line) => line !== '').length;
}

export function refusal(what: string, instead: string, cause?: unknown): WorkflowError {
  const message = `The agent asks for a worktree of its own, and ${what}. ${instead}.`;
  return new WorkflowError('AGENT_ISOLATION', message, cause === undefined ? {} : { cause });
}

function noRepository(cwd: string, said: string): WorkflowError {
  if (/not a git repository/i.test(said) || said === '') {
    return refusal(
      `${cwd} is in no git repository`,
      'Make one (git init, and a first commit), or leave isolation out if agents may work in this directory together',
    );
  }
  return refusal(`git refuses to work in ${cwd}: ${said.slice(0, 500)}`, 'Mend that, or leave isolation out');
}

function noGit(cwd: string, error: unknown): WorkflowError {
  const reason = error instanceof Error ? error.message : String(error);
  return refusal(`git cannot be started in ${cwd} (${reason})`, 'Install git, or leave isolation out', error);
}
