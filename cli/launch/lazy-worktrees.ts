import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Worktrees } from '../../runtime/ports.ts';
import type { CliContext } from '../cli-context.ts';

/** Worktrees of git repositories, whose code is loaded by the first agent that wants one. */
export function lazyWorktrees(env: CliContext['env']): Worktrees {
  let loaded: Promise<Worktrees> | undefined;
  const load = (): Promise<Worktrees> => {
    loaded ??= import('../../agents/worktrees/git-worktrees.ts').then((code) => code.createGitWorktrees({ env }));
    return loaded;
  };
  return {
    open: async (wanted) => (await load()).open(wanted),
    async sweep(left) {
      if (await isInRepository(left.cwd)) await (await load()).sweep(left);
    },
  };
}

/** Looks for a repository without asking git. */
async function isInRepository(cwd: string): Promise<boolean> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const found = await stat(join(folder, '.git')).then(
      () => true,
      () => false,
    );
    if (found) return true;
    if (dirname(folder) === folder) return false;
  }
}
