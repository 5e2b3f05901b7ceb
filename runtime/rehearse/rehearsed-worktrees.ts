import type { Worktrees } from '../ports.ts';

/** Stands in for worktrees in a rehearsal, whose agents change no files: all share one directory. */
export const REHEARSED_WORKTREES: Worktrees = {
  open: async ({ cwd }) => ({ cwd, path: cwd, branch: 'rehearsal', close: async () => ({ kept: false }) }),
  sweep: async () => {},
};
