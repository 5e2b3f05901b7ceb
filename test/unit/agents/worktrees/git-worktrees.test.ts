import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGitWorktrees } from '../../../../agents/worktrees/git-worktrees.ts';
import type { Worktree } from '../../../../runtime/ports.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import { emptyRepository, GIT_ENV, repository, type TestRepository } from './test-repository.ts';

const RUN = 'wf_0000abcd-123';

function opener(cwd: string, runId = RUN) {
  const worktrees = createGitWorktrees({ env: GIT_ENV });
  const warnings: string[] = [];
  const open = (key = 'k'): Promise<Worktree> =>
    worktrees.open({ runId, key, cwd, warn: (text) => void warnings.push(text) });
  return { open, warnings, sweep: () => worktrees.sweep({ runId, cwd }) };
}

function processGroup(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[2]);
}

/** Leaves nothing of the test's run behind but what is named. */
function expectLeft({ trees, branches, root, git }: TestRepository, names: readonly string[]): void {
  expect(trees()).toEqual(names);
  expect(branches().filter((branch) => branch.startsWith('wf/'))).toEqual(names.map((name) => `wf/${name}`));
  expect(git('status', '--porcelain')).toBe('');
  for (const name of names) expect(existsSync(join(root, '.wf/worktrees', name))).toBe(true);
}

describe('a worktree', () => {
  it('starts from the last commit, on a branch of its own below .wf/worktrees, unseen by git status (A-30)', async () => {
    const repo = repository();
    const tree = await opener(repo.root).open();
    expect(tree).toMatchObject({
      path: join(repo.root, `.wf/worktrees/${RUN}-1`),
      cwd: join(repo.root, `.wf/worktrees/${RUN}-1`),
      branch: `wf/${RUN}-1`,
    });
    expect(repo.gitIn(tree.cwd, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe(tree.branch);
    expect(readFileSync(join(tree.cwd, 'a.txt'), 'utf8')).toBe('one\n');
    expectLeft(repo, [`${RUN}-1`]);
  });

  it('is removed with its branch when nothing changed; what git ignores does not count (A-30)', async () => {
    const repo = repository();
    const tree = await opener(repo.root).open();
    mkdirSync(join(tree.cwd, 'ignored'));
    writeFileSync(join(tree.cwd, 'ignored/build.log'), 'x');
    await expect(tree.close()).resolves.toEqual({ kept: false });
    expectLeft(repo, []);
    expect(existsSync(tree.path)).toBe(false);
    expect(existsSync(`${tree.path}.json`)).toBe(false);
  });

  it.each<[string, (tree: Worktree, repo: TestRepository) => void]>([
    ['an untracked file', ({ cwd }) => writeFileSync(join(cwd, 'new.txt'), 'x')],
    ['an edited file', ({ cwd }) => writeFileSync(join(cwd, 'a.txt'), 'two\n')],
    ['a removed file', ({ cwd }) => rmSync(join(cwd, 'a.txt'))],
    [
      'a staged file',
      ({ cwd }, { gitIn }) => {
        writeFileSync(join(cwd, 'a.txt'), 'two\n');
        gitIn(cwd, 'add', 'a.txt');
      },
    ],
    ['a commit', ({ cwd }, { gitIn }) => void gitIn(cwd, 'commit', '-q', '--allow-empty', '-m', 'second')],
    [
      'a commit on its branch, and another branch checked out',
      ({ cwd }, { gitIn }) => {
        gitIn(cwd, 'commit', '-q', '--allow-empty', '-m', 'second');
        gitIn(cwd, 'checkout', '-q', '--detach', 'main');
      },
    ],
  ])('is kept with %s in it (A-30)', async (_, change) => {
    const repo = repository();
    const tree = await opener(repo.root).open();
    change(tree, repo);
    await expect(tree.close()).resolves.toEqual({ kept: true });
    expectLeft(repo, [`${RUN}-1`]);
  });

  it('that its agent removed goes, and its branch stays while it holds commits (A-30)', async () => {
    const repo = repository();
    const { open } = opener(repo.root);
    const [bare, committed] = [await open('a'), await open('b')];
    repo.gitIn(committed.cwd, 'commit', '-q', '--allow-empty', '-m', 'second');
    for (const { path } of [bare, committed]) rmSync(path, { recursive: true });
    await expect(bare.close()).resolves.toEqual({ kept: false });
    await expect(committed.close()).resolves.toEqual({ kept: true });
    expect(repo.branches()).toEqual(['main', committed.branch]);
  });

  it('is made for the folder of the repository in which the run works', async () => {
    const repo = repository();
    repo.put('sub/b.txt', 'b');
    mkdirSync(join(repo.root, 'empty'));
    repo.git('add', '.');
    repo.git('commit', '-qm', 'sub');
    const inSub = await opener(join(repo.root, 'sub')).open();
    expect(inSub.cwd).toBe(join(inSub.path, 'sub'));
    const inEmpty = await opener(join(repo.root, 'empty'), 'wf_0000abcd-124').open();
    expect(existsSync(inEmpty.cwd)).toBe(true);
    await expect(inEmpty.close()).resolves.toEqual({ kept: false });
  });

  it('of a run inside another worktree starts there, and stands beside it', async () => {
    const repo = repository();
    const outer = await opener(repo.root).open();
    repo.gitIn(outer.cwd, 'commit', '-q', '--allow-empty', '-m', 'second');
    const inner = await opener(outer.cwd, 'wf_0000abcd-124').open();
    expect(inner.path).toBe(join(repo.root, '.wf/worktrees/wf_0000abcd-124-1'));
    expect(repo.gitIn(inner.cwd, 'log', '-1', '--format=%s')).toBe('second');
  });

  it('takes the repository of its directory, whatever git variables the run inherited', async () => {
    const [repo, other] = [repository(), repository()];
    const env = { ...GIT_ENV, GIT_DIR: join(other.root, '.git'), GIT_INDEX_FILE: '/nowhere/index' };
    const worktrees = createGitWorktrees({ env });
    const tree = await worktrees.open({ runId: RUN, key: 'k', cwd: repo.root, warn: () => {} });
    expect(tree.path).toContain(repo.root);
    expect(other.trees()).toEqual([]);
  });

  it('runs no hooks of the repository', async () => {
    const repo = repository();
    repo.put('.git/hooks/post-checkout', '#!/bin/sh\ntouch "$(git rev-parse --git-common-dir)/ran"; exit 1\n');
    chmodSync(join(repo.root, '.git/hooks/post-checkout'), 0o755);
    await opener(repo.root).open();
    expect(existsSync(join(repo.root, '.git/ran'))).toBe(false);
  });

  it('is made where the parent has changes that are not committed, which is said once (A-30)', async () => {
    const repo = repository();
    repo.put('a.txt', 'dirty\n');
    repo.put('new.txt', 'x');
    const { open, warnings } = opener(repo.root);
    const tree = await open('a');
    await open('b');
    expect(readFileSync(join(tree.cwd, 'a.txt'), 'utf8')).toBe('one\n');
    expect(warnings).toEqual([
      expect.stringMatching(/^2 paths have changes in .* not committed: worktrees start from its last commit/),
    ]);
  });
});

describe('no worktree', () => {
  const bareOf = (repo: TestRepository): string => {
    repo.git('clone', '-q', '--bare', '.', 'bare.git');
    return join(repo.root, 'bare.git');
  };
  const submoduleOf = (repo: TestRepository): string => {
    const inner = repository();
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.root, 'vendor/lib');
    repo.git('commit', '-qm', 'a submodule');
    return join(repo.root, 'vendor/lib');
  };
  const fileInTheWay = (repo: TestRepository): string => {
    repo.put('.wf', 'x');
    return repo.root;
  };
  it.each<[string, (repo: TestRepository) => string, RegExp]>([
    ['outside git', () => outside(), /is in no git repository\. Make one/],
    ['before the first commit', () => emptyRepository().root, /has no commit yet\. Commit once/],
    ['in a bare repository', bareOf, /has no working tree of its own/],
    [
      'in a repository with submodules',
      (repo) => join(submoduleOf(repo), '../..'),
      /has submodules \(vendor\/lib\), which/,
    ],
    ['in a submodule', submoduleOf, /is in a submodule of/],
    ['in a directory that is gone', () => '/no/such/directory', /git cannot be started/],
    ['where .wf is a file', fileInTheWay, /\.wf\/worktrees cannot be written/],
    [
      'where a branch is in the way',
      (repo) => {
        repo.git('branch', 'wf');
        return repo.root;
      },
      /git could not make it in .*wf/s,
    ],
  ])('is made %s, and the call says what to do (A-4, A-30)', async (_, place, message) => {
    const repo = repository();
    const refused = opener(place(repo)).open();
    await expect(refused).rejects.toMatchObject({ code: 'AGENT_ISOLATION', message: expect.stringMatching(message) });
    expect(repo.trees()).toEqual([]);
  });
});

function outside(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wf-no-git-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('many worktrees', () => {
  it('at once are ten trees on ten branches, and none of them when nothing changed (A-30)', async () => {
    const repo = repository();
    const { open } = opener(repo.root);
    const trees = await Promise.all(Array.from({ length: 10 }, (_, index) => open(`k${index}`)));
    const names = Array.from({ length: 10 }, (_, index) => `${RUN}-${index + 1}`);
    expectLeft(repo, [...names].sort());
    expect(trees.map(({ branch }) => branch)).toEqual(names.map((name) => `wf/${name}`));
    await Promise.all(trees.map((tree) => tree.close()));
    expectLeft(repo, []);
  });

  it('of several processes at once all come to be (A-30)', async () => {
    const repo = repository();
    const program = `
      import { createGitWorktrees } from './agents/worktrees/git-worktrees.ts';
      const worktrees = createGitWorktrees({ env: process.env });
      const [runId, cwd] = process.argv.slice(-2);
      const keys = ['a', 'b', 'c', 'd', 'e'];
      const trees = await Promise.all(keys.map((key) => worktrees.open({ runId, key, cwd, warn() {} })));
      console.log(trees.length);`;
    const runs = ['wf_0000abcd-001', 'wf_0000abcd-002', 'wf_0000abcd-003'];
    const ends = runs.map((runId) => {
      const args = ['--input-type=module-typescript', '-e', program, '--', runId, repo.root];
      const child = spawn(process.execPath, args, { env: GIT_ENV, stdio: ['ignore', 'pipe', 'inherit'] });
      return new Promise((resolve) => child.on('close', resolve));
    });
    await expect(Promise.all(ends)).resolves.toEqual([0, 0, 0]);
    expect(repo.trees()).toEqual(runs.flatMap((runId) => [1, 2, 3, 4, 5].map((n) => `${runId}-${n}`)));
    expect(existsSync(join(repo.root, '.git/wf-worktrees.lock'))).toBe(false);
  });

  it('are made in spite of a lock that another git holds for a while, and of one whose owner is dead (A-30)', async () => {
    const repo = repository();
    writeFileSync(join(repo.root, '.git/wf-worktrees.lock'), '999999999\n');
    const lock = join(repo.root, '.git/packed-refs.lock');
    const ref = join(repo.root, `.git/refs/heads/wf/${RUN}-1.lock`);
    mkdirSync(join(repo.root, '.git/refs/heads/wf'), { recursive: true });
    writeFileSync(lock, '');
    writeFileSync(ref, '');
    setTimeout(() => rmSync(ref), 60);
    const tree = await opener(repo.root).open();
    expect(tree.branch).toBe(`wf/${RUN}-1`);
    rmSync(lock);
    expectLeft(repo, [`${RUN}-1`]);
  });
});

describe('worktrees of a killed run', () => {
  /** What a process that is killed leaves: it never closes its trees. */
  async function killed(repo: TestRepository): Promise<{ readonly worked: Worktree; readonly idle: Worktree }> {
    const { open } = opener(repo.root);
    const [worked, idle] = [await open('worked'), await open('idle')];
    writeFileSync(join(worked.cwd, 'half.txt'), 'half');
    return { worked, idle };
  }

  it('are given back to the agent that worked in them, and otherwise removed (A-15, A-30)', async () => {
    const repo = repository();
    const { worked } = await killed(repo);
    const { open, sweep } = opener(repo.root);
    await sweep();
    expectLeft(repo, [`${RUN}-1`]);
    const [other, again] = [await open('idle'), await open('worked')];
    expect(again).toMatchObject({ path: worked.path, branch: worked.branch, hasEarlierWork: true });
    expect(other).toMatchObject({ branch: `wf/${RUN}-2` });
    expect(other.hasEarlierWork).toBeUndefined();
    await other.close();
    await expect(again.close()).resolves.toEqual({ kept: true });
    expectLeft(repo, [`${RUN}-1`]);
  });

  it('that git had not finished are removed (A-30)', async () => {
    const repo = repository();
    const { idle } = await killed(repo);
    const record = JSON.parse(readFileSync(`${idle.path}.json`, 'utf8'));
    writeFileSync(`${idle.path}.json`, JSON.stringify({ ...record, ready: false }));
    writeFileSync(join(repo.root, '.git/worktrees', `${RUN}-2`, 'locked'), 'initializing');
    rmSync(join(idle.path, 'a.txt'));
    await opener(repo.root).sweep();
    expectLeft(repo, [`${RUN}-1`]);
  });

  it.each([
    ['still makes when its launch is killed are waited for', 'wait'],
    ['was killed over are removed with what git keeps of them', 'kill'],
  ])('that a git %s: then nothing of them is left (A-30)', async (_, what) => {
    const repo = repository();
    const [started, go] = [join(repo.root, 'ignored/started'), join(repo.root, 'ignored/go')];
    mkdirSync(join(repo.root, 'ignored'));
    repo.put('.gitattributes', '*.slow filter=slow\n');
    repo.put('z.slow', 'slow\n');
    repo.git('add', '.');
    repo.git('commit', '-qm', 'a filter');
    repo.git(
      'config',
      'filter.slow.smudge',
      `echo $PPID > '${started}'; until [ -e '${go}' ]; do sleep 0.01; done; cat`,
    );
    const program = `
      import { createGitWorktrees } from './agents/worktrees/git-worktrees.ts';
      const [runId, cwd] = process.argv.slice(-2);
      await createGitWorktrees({ env: process.env }).open({ runId, key: 'k', cwd, warn() {} });`;
    const args = ['--input-type=module-typescript', '-e', program, '--', RUN, repo.root];
    const child = spawn(process.execPath, args, { env: GIT_ENV, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.on('close', resolve));
    await waitUntil(() => existsSync(started) && readFileSync(started, 'utf8') !== '');
    child.kill('SIGKILL');
    await ended;
    if (what === 'kill') process.kill(-processGroup(Number(readFileSync(started, 'utf8'))), 'SIGKILL');
    let swept = false;
    const sweeping = opener(repo.root)
      .sweep()
      .then(() => {
        swept = true;
      });
    if (what === 'wait') {
      for (let n = 0; n < 60 && !swept; n += 1)
        await new Promise((resolve) => spawn('git', ['--version']).on('close', resolve));
      expect(swept).toBe(false);
      writeFileSync(go, '');
    }
    await sweeping;
    repo.git('config', '--unset', 'filter.slow.smudge');
    expectLeft(repo, []);
    expect(readdirSync(join(repo.root, '.wf/worktrees'))).toEqual([]);
    expect(existsSync(join(repo.root, '.git/wf-worktrees.lock'))).toBe(false);
  });

  it('are left alone by other runs', async () => {
    const repo = repository();
    await killed(repo);
    const { open, sweep } = opener(repo.root, 'wf_0000abcd-999');
    await sweep();
    await open();
    expectLeft(repo, [`${RUN}-1`, `${RUN}-2`, 'wf_0000abcd-999-1']);
  });
});
