import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A real git repository with one commit, removed after the test. */
export interface TestRepository {
  /** Absolute. */
  readonly root: string;
  git(...args: readonly string[]): string;
  gitIn(cwd: string, ...args: readonly string[]): string;
  put(name: string, text: string): void;
  /** Folder names of its worktrees, without the main one. */
  trees(): readonly string[];
  branches(): readonly string[];
}

export const GIT_ENV = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nowhere',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 't',
  GIT_AUTHOR_EMAIL: 't@example.org',
  GIT_COMMITTER_NAME: 't',
  GIT_COMMITTER_EMAIL: 't@example.org',
};

export function emptyRepository(): TestRepository {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'wf-git-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
  const gitIn = (cwd: string, ...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd, env: GIT_ENV, encoding: 'utf8' });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout.trimEnd();
  };
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
  gitIn(root, 'init', '-q', '-b', 'main');
  return {
    root,
    gitIn,
    git: (...args) => gitIn(root, ...args),
    put(name, text) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    },
    trees: () =>
      lines(gitIn(root, 'worktree', 'list', '--porcelain'))
        .filter((line) => line.startsWith('worktree '))
        .slice(1)
        .map((line) => line.slice(line.lastIndexOf('/') + 1))
        .sort(),
    branches: () => lines(gitIn(root, 'for-each-ref', '--format=%(refname:short)', 'refs/heads')),
  };
}

export function repository(): TestRepository {
  const made = emptyRepository();
  made.put('a.txt', 'one\n');
  made.put('.gitignore', 'ignored/\n');
  made.git('add', '.');
  made.git('commit', '-qm', 'first');
  return made;
}
