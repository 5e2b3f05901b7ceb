import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePlace, type Place, script } from './wf-process.ts';

const GIT_ENV = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 't',
  GIT_AUTHOR_EMAIL: 't@example.org',
  GIT_COMMITTER_NAME: 't',
  GIT_COMMITTER_EMAIL: 't@example.org',
};

describe('wf run with worktrees', () => {
  let place: Place;
  let work: string;
  const git = (...args: readonly string[]): string => {
    const env = { PATH: process.env['PATH'], ...GIT_ENV };
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: work, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  };
  const branches = (): string[] => git('for-each-ref', '--format=%(refname:short)', 'refs/heads/wf').split('\n');
  beforeEach(() => {
    place = makePlace();
    work = join(place.root, 'work');
    git('init', '-q', '-b', 'main');
    place.put('.gitignore', '*.js*\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    place.put(
      'flow.js',
      script(`return parallel(Array.from({ length: 10 }, (_, i) => () =>
        agent((i % 2 ? 'think ' : 'write ') + i, { label: 'n' + i, isolation: 'worktree' })))`),
    );
  });
  afterEach(() => place.remove());

  const write = { tool: { name: 'Write', input: { file_path: 'new.txt', content: 'hi' } } };
  const answers = (...slow: readonly object[]): object => ({
    rules: [{ match: 'write', reply: [write, ...slow, { text: 'wrote' }] }],
    default: [...slow, { text: 'thought' }],
  });
  const run = (...argv: readonly string[]) =>
    place.run('run', 'flow.js', '--responses', 'answers.json', '--permission-mode', 'acceptEdits', ...argv);

  it('ten agents work apart: trees with changes are kept and named, the others are gone (A-30, A-31)', async () => {
    place.put('answers.json', answers());
    const ended = await run('--output-format', 'json');
    expect(ended.exit, ended.stderr).toBe(0);
    const output = JSON.parse(ended.stdout) as {
      runId: string;
      worktrees: { label: string; path: string; branch: string }[];
    };
    expect(output.worktrees.map(({ label }) => label).sort()).toEqual(['n0', 'n2', 'n4', 'n6', 'n8']);
    for (const { path } of output.worktrees) expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('hi');
    expect(branches()).toEqual(output.worktrees.map(({ branch }) => branch).sort());
    expect(git('worktree', 'list').split('\n')).toHaveLength(6);
    expect(git('status', '--porcelain')).toBe('');
    expect(existsSync(join(work, 'new.txt'))).toBe(false);
    const agents = join(place.state, 'runs', output.runId, 'agents');
    const metas = await place.shell(`cat '${agents}'/*.meta.json`);
    expect(metas.stdout.match(/"worktree":"[^"]*\.wf\/worktrees\//g)).toHaveLength(10);

    const again = await place.run('resume', output.runId, '--output-format', 'json');
    expect(JSON.parse(again.stdout)).toMatchObject({ worktrees: expect.arrayContaining(output.worktrees) });

    const cleaned = await place.run('clean', output.runId, '--yes');
    expect(cleaned.stderr.match(/kept the worktree .* has work that is merged nowhere/g)).toHaveLength(5);
    expect(git('worktree', 'list').split('\n')).toHaveLength(6);
  });

  it('a killed run leaves nothing that a resume and wf clean do not find (A-30)', async () => {
    place.put('answers.json', answers({ silentMs: 60_000 }));
    const killed = place.start('run', 'flow.js', '--responses', 'answers.json', '--permission-mode', 'acceptEdits');
    const trees = join(work, '.wf/worktrees');
    await place.shell(`until [ "$(ls '${trees}'/*-*/new.txt 2>/dev/null | wc -l)" = 5 ]; do sleep 0.05; done`);
    killed.child.kill('SIGKILL');
    await killed.ended;

    place.put('answers.json', answers());
    const [runId = ''] = place.runIds();
    const resumed = await place.run('resume', runId, '--responses', 'answers.json', '--output-format', 'json');
    expect(resumed.exit, resumed.stderr).toBe(0);
    const output = JSON.parse(resumed.stdout) as { worktrees: { branch: string }[] };
    expect(output.worktrees).toHaveLength(5);
    expect(branches()).toEqual(output.worktrees.map(({ branch }) => branch).sort());

    await place.run('clean', runId, '--yes', '--worktrees');
    expect(git('worktree', 'list').split('\n')).toHaveLength(1);
    expect(git('for-each-ref', 'refs/heads/wf')).toBe('');
    await place.shell(`ls '${trees}'`).then(({ stdout }) => expect(stdout).toBe(''));
  });
});
