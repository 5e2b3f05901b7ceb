import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type FakeApi, startFakeApi } from '../support/fake-messages-api.mjs';
import { makePlace, type Place } from './wf-process.ts';

const DEMO = fileURLToPath(new URL('../../examples/20-fix-three-bugs.js', import.meta.url));
const ALLOWED = 'Bash(node --test:*) Bash(git add:*) Bash(git commit:*) Bash(git diff:*)';

/** A module, the line that is wrong, what it should say, and what its test says of it. */
const BUGS = [
  {
    name: 'clamp',
    wrong: 'return Math.min(low, Math.max(high, n));',
    right: 'return Math.max(low, Math.min(high, n));',
    head: '(n, low, high)',
    holds: 'clamp(7, 1, 5) === 5 && clamp(-1, 1, 5) === 1 && clamp(3, 1, 5) === 3',
  },
  {
    name: 'median',
    wrong: 'const sorted = [...values].sort();\n  return sorted[values.length >> 1];',
    right: 'const sorted = [...values].sort((a, b) => a - b);\n  return sorted[values.length >> 1];',
    head: '(values)',
    holds: 'median([10, 9, 1]) === 9',
  },
  {
    name: 'pages',
    wrong: 'return Math.floor(items / size);',
    right: 'return Math.ceil(items / size);',
    head: '(items, size)',
    holds: 'pages(11, 5) === 3 && pages(10, 5) === 2',
  },
] as const;

const places: Place[] = [];
const apis: FakeApi[] = [];
afterEach(async () => {
  for (const api of apis.splice(0)) await api.close();
  for (const place of places.splice(0)) place.remove();
});

/** A repository with three modules that are wrong, each with a test that says so. */
function repository(apiUrl: string): { readonly place: Place; readonly git: (...args: string[]) => string } {
  const place = makePlace({ ANTHROPIC_BASE_URL: apiUrl, ANTHROPIC_API_KEY: 'loopback' });
  places.push(place);
  for (const { name, wrong, head, holds } of BUGS) {
    place.put(`src/${name}.mjs`, `export function ${name}${head} {\n  ${wrong}\n}\n`);
    place.put(
      `test/${name}.test.mjs`,
      `import { test } from 'node:test';\nimport assert from 'node:assert';\nimport { ${name} } from '../src/${name}.mjs';\ntest('${name}', () => assert.ok(${holds}));\n`,
    );
  }
  const cwd = join(place.root, 'work');
  const git = (...args: string[]): string => execFileSync('git', args, { cwd, encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'A Test');
  git('config', 'user.email', 'test@example.com');
  git('add', '-A');
  git('commit', '-q', '-m', 'Three modules');
  return { place, git };
}

/** What the model does: it reads, edits, runs the tests, commits, and looks at diffs; the names of branches it takes from its prompts. */
function model(against: string | undefined, untouched: string | undefined) {
  const rules = BUGS.flatMap(({ name, wrong, right }) => {
    const changedFiles = name === untouched ? ['README.md'] : [`src/${name}.mjs`];
    return [
      {
        match: `Find one real bug in src/${name}\\.mjs`,
        reply: [
          { tool: { name: 'Read', input: { file_path: `src/${name}.mjs` } } },
          { json: { found: true, file: `src/${name}.mjs`, what: `${name} gives a wrong result` } },
        ],
      },
      {
        match: `Fix this bug in src/${name}\\.mjs[^]*on the branch (\\S+)\\. What`,
        reply: [
          { tool: { name: 'Edit', input: { file_path: `src/${name}.mjs`, old_string: wrong, new_string: right } } },
          { tool: { name: 'Bash', input: { command: `node --test test/${name}.test.mjs` } } },
          { tool: { name: 'Bash', input: { command: `git add -A && git commit -q -m "Mend ${name}"` } } },
          { json: { branch: '$1', testsPass: true, change: `${name} computes what it should` } },
        ],
      },
      {
        match: `Doubt this fix on the branch (\\S+): ${name} `,
        reply: [
          { tool: { name: 'Bash', input: { command: 'git diff --name-only HEAD...$1' } } },
          { tool: { name: 'Bash', input: { command: 'git diff HEAD...$1' } } },
          {
            json:
              name === against
                ? { sound: false, reason: 'an empty list is still wrong', changedFiles }
                : { sound: true, reason: 'fine', changedFiles },
          },
        ],
      },
    ];
  });
  return { rules };
}

async function runDemo(against?: string, untouched?: string) {
  const api = await startFakeApi(model(against, untouched));
  apis.push(api);
  const { place, git } = repository(api.url);
  const areas = BUGS.map(({ name }) => `src/${name}.mjs`);
  const options = ['--backend', 'anthropic', '--permission-mode', 'acceptEdits', '--allow-tools', ALLOWED];
  const ended = await place.run(
    ...['run', DEMO, '--args', JSON.stringify({ areas, test: 'node --test' }), ...options, '--output-format', 'json'],
  );
  expect(ended.exit, ended.stderr).toBe(0);
  const output = JSON.parse(ended.stdout) as { result: { merge: string[]; leave: object[] }; failures: object[] };
  return { ...output, place, git };
}

/** The results of tools that agents got, from their transcripts. */
function toolResults(place: Place): string {
  const [runId = ''] = place.runIds();
  return execFileSync('sh', ['-c', 'cat *.jsonl'], {
    cwd: join(place.state, 'runs', runId, 'agents'),
    encoding: 'utf8',
  });
}

describe('the demo that fixes three bugs', () => {
  it('finds three bugs at once, mends each in its worktree, and its branches merge to a repository whose tests pass (A-25, A-29, A-30)', async () => {
    const { result, failures, place, git } = await runDemo();
    expect(failures).toEqual([]);
    expect(result.leave).toEqual([]);
    expect(result.merge).toHaveLength(3);
    expect(new Set(result.merge).size).toBe(3);
    expect(git('status', '--porcelain')).toBe('');
    expect(readFileSync(join(place.root, 'work/src/clamp.mjs'), 'utf8')).toContain(BUGS[0].wrong);
    const seen = toolResults(place);
    for (const { name } of BUGS)
      expect(seen).toMatch(new RegExp(`\\+ *(const|return).*${name === 'median' ? 'a - b' : 'Math'}`));
    for (const branch of result.merge) git('merge', '-q', '--no-edit', branch);
    const { stdout } = await place.shell('node --test 2>&1');
    expect(stdout).toMatch(/pass 3[\s\S]*fail 0/);
  });

  it('leaves a fix that a sceptic doubts, and one whose branch changes something else, with branch and reason (A-30)', async () => {
    const { result } = await runDemo('median', 'pages');
    expect(result.merge).toHaveLength(1);
    const branch = expect.stringMatching(/^wf\/wf_/);
    expect(result.leave).toEqual([
      { area: 'src/median.mjs', branch, why: 'an empty list is still wrong' },
      { area: 'src/pages.mjs', branch, why: 'its branch changes README.md, and not src/pages.mjs' },
    ]);
  });
});
