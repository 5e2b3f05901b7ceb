import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentTool } from '../../../../../agents/tools/agent-tool.ts';
import { offeredTools } from '../../../../../agents/tools/choose-tools.ts';
import { DEFAULT_TOOLS } from '../../../../../agents/tools/default-tools.ts';
import { type Deed, MODE_TABLE, PERMISSION_MODES } from '../../../../../agents/tools/permissions/permission-modes.ts';
import { splitPermissionRules } from '../../../../../agents/tools/permissions/permission-rule.ts';
import {
  createPermissions,
  type PermissionAnswer,
  type PermissionOptions,
  type PermissionQuestion,
} from '../../../../../agents/tools/permissions/permissions.ts';
import { isWorkflowError } from '../../../../../protocol/workflow-error.ts';
import { agentRequest } from '../../../../support/agent-request.ts';
import { FakeReporter } from '../../../../support/fake-reporter.ts';
import { toolContext } from '../../../../support/tool-context.ts';

const docs = path.join(import.meta.dirname, '../../../../../docs/agents.md');
let cwd = '';
beforeAll(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), 'wf-permissions-'));
  await mkdir(path.join(cwd, 'src/deep'), { recursive: true });
  await mkdir(path.join(cwd, 'secrets'));
  await writeFile(path.join(cwd, 'src/a.ts'), 'needle');
  await writeFile(path.join(cwd, 'secrets/key.txt'), 'needle');
  await symlink('secrets', path.join(cwd, 'shown'));
  await symlink('src', path.join(cwd, 'alias'));
});
afterAll(() => rm(cwd, { recursive: true }));

const mcpTool: AgentTool = {
  name: 'mcp__docs__search',
  description: '',
  access: 'external',
  inputSchema: { type: 'object' },
  run: async () => ({ text: 'ran', isError: false }),
};
const ownTool: AgentTool = { ...mcpTool, name: 'Weather' };
delete (ownTool as { access?: unknown }).access;

function toolOf(name: string): AgentTool {
  const tool = [...DEFAULT_TOOLS, mcpTool, ownTool].find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
}

const { signal } = new AbortController();
const agent = { agentId: 'a1', label: 'one', phase: null };

function check(options: PermissionOptions, name: string, input: unknown) {
  const call = { tool: toolOf(name), input, toolUseId: 't1', cwd, agent };
  return createPermissions(options).check(call, signal);
}

/** What became of a call: `allow`, `ask` or `deny`. */
async function verdict(options: PermissionOptions, name: string, input: unknown): Promise<string> {
  let asked = false;
  const ask = async (): Promise<PermissionAnswer> => {
    asked = true;
    return { allow: false, message: 'no' };
  };
  const { allow } = await check({ ...options, ask }, name, input);
  return asked ? 'ask' : allow ? 'allow' : 'deny';
}

const bash = (options: PermissionOptions, command: string) => verdict(options, 'Bash', { command });
const writing = (options: PermissionOptions, file_path: string) =>
  verdict(options, 'Write', { file_path, content: 'x' });

/** A call for each column of the table. */
const SAMPLES: Readonly<Record<Deed, readonly [name: string, input: unknown]>> = {
  read: ['Read', { file_path: 'src/a.ts' }],
  edit: ['Edit', { file_path: 'src/a.ts', old_string: 'needle', new_string: 'x' }],
  steer: ['Write', { file_path: '.git/hooks/pre-commit', content: 'x' }],
  execute: ['Bash', { command: 'true' }],
  external: ['mcp__docs__search', {}],
};

describe('permission modes', () => {
  const cells = PERMISSION_MODES.flatMap((mode) =>
    (Object.keys(SAMPLES) as Deed[]).map((deed) => ({ mode, deed, expected: MODE_TABLE[mode][deed] })),
  );

  it('are those of the table in docs/agents.md, cell by cell (A-29)', async () => {
    const text = await readFile(docs, 'utf8');
    const header = /^\| mode \|(.*)\|$/m
      .exec(text)?.[1]
      ?.split('|')
      .map((cell) => cell.trim());
    const rows = [...text.matchAll(/^\| `(\w+)` \| ((?:(?:allow|ask|deny) ?\|? ?)+)$/gm)];
    const written = rows.flatMap(([, mode, row = '']) =>
      row
        .split('|')
        .filter((cell) => cell.trim() !== '')
        .map((cell, at) => ({ mode, deed: header?.[at], expected: cell.trim() })),
    );
    expect(written).toEqual(cells);
  });

  it.each(cells)('$mode says $expected to $deed (A-29)', async ({ mode, deed, expected }) => {
    const [name, input] = SAMPLES[deed];
    expect(await verdict({ mode }, name, input)).toBe(expected);
    const unattended = await check({ mode }, name, input);
    expect(unattended.allow).toBe(expected === 'allow');
    if (!unattended.allow)
      expect(unattended.message).toMatch(expected === 'deny' ? /only read/ : /nobody is there to give/);
    expect(await verdict({ mode, deny: [name] }, name, input)).toBe('deny');
  });

  it('leave out of the offer what could not be allowed (A-25, A-29)', () => {
    const names = (options: PermissionOptions): string =>
      offeredTools([...DEFAULT_TOOLS, mcpTool, ownTool], createPermissions(options))
        .map(({ name }) => name)
        .join(' ');
    const ask = async (): Promise<PermissionAnswer> => ({ allow: true });
    expect(names({})).toBe('Read Glob Grep Weather');
    expect(names({ mode: 'plan', ask, allow: ['Bash'] })).toBe('Read Glob Grep Weather');
    expect(names({ mode: 'acceptEdits' })).toBe('Read Glob Grep Edit Write Weather');
    expect(names({ allow: ['Bash(git log:*)', 'Edit(src/**)'] })).toBe(
      'Read Glob Grep Edit Write Bash BashOutput Weather',
    );
    expect(names({ ask, deny: ['Bash', 'Read', 'mcp__*'] })).toBe('Glob Grep Edit Write Weather');
    expect(names({ mode: 'bypassPermissions', deny: ['Bash(rm:*)', 'Weather'] })).toBe(
      'Read Glob Grep Edit Write Bash BashOutput mcp__docs__search',
    );
  });
});

describe('permission rules for paths', () => {
  it.each([
    ['Edit(src/**)', 'src/deep/new.ts', 'allow'],
    ['Edit(src/**)', './src/../src/x.ts', 'allow'],
    ['Edit(src/**)', 'src/../other.ts', 'ask'],
    ['Edit(src/**)', 'alias/x.ts', 'allow'],
    ['Edit(src)', 'src/deep/x', 'allow'],
    ['Edit(src/*.ts)', 'src/x.ts', 'allow'],
    ['Edit(src/*.ts)', 'src/deep/x.ts', 'ask'],
    ['Edit(*.md)', 'src/deep/x.md', 'allow'],
    ['Edit(SRC/**)', 'src/x.ts', 'ask'],
    ['Edit', 'any.ts', 'ask'],
    ['Write', 'any.ts', 'allow'],
    ['*', 'any.ts', 'allow'],
    ['Write', '.git/config', 'ask'],
    ['Edit(.git/config)', '.git/config', 'allow'],
    ['Edit(**)', 'sub/.mcp.json', 'ask'],
  ])('%s lets Write go to %s: %s (A-29)', async (rule, file, expected) => {
    expect(await writing({ allow: [rule] }, file)).toBe(expected);
  });

  it.each([
    ['Read(secrets/**)', 'secrets/key.txt', 'deny'],
    ['Read(secrets)', 'src/../secrets/key.txt', 'deny'],
    ['Read(SECRETS/**)', 'secrets/key.txt', 'deny'],
    ['Read(secrets/**)', 'shown/key.txt', 'deny'],
    ['Read(shown/**)', 'shown/key.txt', 'deny'],
    ['Read(key.txt)', 'secrets/key.txt', 'deny'],
    ['Edit(secrets/**)', 'secrets/key.txt', 'allow'],
    ['Read(secrets/**)', 'src/a.ts', 'allow'],
  ])('the deny rule %s makes a Read of %s: %s (A-29)', async (rule, file_path, expected) => {
    expect(await verdict({ mode: 'bypassPermissions', deny: [rule] }, 'Read', { file_path })).toBe(expected);
  });

  it('hide what may not be read from tools that search (A-29)', async () => {
    const context = toolContext(cwd, { permissions: { deny: ['Read(secrets/**)'] } });
    const run = async (name: string, input: unknown) => (await toolOf(name).run(input, context)).text;
    expect(await run('Grep', { pattern: 'needle', mode: 'files' })).toBe('src/a.ts');
    expect(await run('Glob', { pattern: '**/*.*' })).toBe('src/a.ts');
    expect(await verdict({ deny: ['Read(secrets)'] }, 'Grep', { pattern: 'x', path: 'secrets' })).toBe('deny');
  });
});

describe('permission rules for commands', () => {
  const allow = ['Bash(git status:*)', 'Bash(npm test)', 'Bash(echo *)', 'Bash(ls:*)'];

  it.each([
    'git status',
    'git status --short  src',
    'git \'status\' "-s"',
    'npm test',
    `echo $HOME "${'$'}{USER}" a\\;b`,
    'git status && npm test; ls | echo x || ls &',
    'git status 2>&1 >/dev/null',
    'ls # rm -rf /',
    'ls \\\n -l',
    'git status\nls',
    "echo '$(rm x)' '`rm x`' \"a;b|c\"",
  ])('allow %j (A-29)', async (command) => {
    expect(await bash({ allow }, command)).toBe('allow');
  });

  it.each([
    'git statusx',
    'git',
    'git "status x"',
    'npm test --watch',
    'npm test2',
    'rm x',
    'git status && rm x',
    'git status & rm x',
    'git status; rm x',
    'git status | rm x',
    'git status || rm x',
    'git status |& rm x',
    'git status\nrm x',
    'git status\r\nrm x',
    'ls # a\nrm x',
    'echo $(rm x)',
    'echo "$(rm x)"',
    'echo `rm x`',
    'echo "`rm x`"',
    `echo ${'$'}{x:-$(rm x)}`,
    `echo ${'$'}{x@P}`,
    "echo $'\\x41'",
    'ls <(rm x)',
    'ls > file',
    'ls >> file',
    'ls >| file',
    'ls &> file',
    'ls 2> file',
    'ls < /etc/passwd',
    'ls <<E\n$(rm x)\nE',
    '(git status)',
    '{ git status; }',
    'if ls; then ls; fi',
    'for x in a; do ls; done',
    'ls() { rm x; }; ls',
    'X=1 ls',
    'LD_PRELOAD=x.so ls',
    '! ls',
    'eval ls',
    'exec ls',
    '. ls',
    '$X',
    '$(echo ls)',
    '"$X" a',
    '/tmp/git status',
    './ls',
    "ls 'a",
    'ls "a',
    'ls \\',
    '',
    '# only words',
    'ls;;',
    'coproc ls',
    'time ls',
    "echo -v 'a[$(rm x)]' x",
    'echo a >/dev/null/../x',
  ])('do not allow %j (A-29)', async (command) => {
    expect(await bash({ allow }, command)).not.toBe('allow');
  });

  it.each([
    'rm x',
    'a && rm x',
    'a;rm x',
    'echo $(rm x)',
    'echo `rm x`',
    'bash -c "rm x"',
    "sh -c 'cd /; rm x'",
    '/bin/rm x',
    '../../bin/rm x',
    '\\rm x',
    "r''m x",
    '"rm" x',
    'env A=1 rm x',
    'X=1 rm x',
    'sudo -n rm x',
    'find . | xargs rm',
    'r\\\nm x',
    'if true; then rm x; fi',
    '(rm x)',
    '{ rm x; }',
    'x=rm; $x y',
    'ls <(rm x)',
    'cat <<E | sh\nrm x\nE',
    'git   push',
    'git\tpush origin',
  ])('refuse %j where rm and git push are denied, whatever is allowed (A-29)', async (command) => {
    const deny = ['Bash(rm:*)', 'Bash(git push)'];
    expect(await bash({ mode: 'bypassPermissions', allow: ['Bash'], deny }, command)).toBe('deny');
  });

  it('leave other commands alone that only look alike (A-29)', async () => {
    const deny = ['Bash(rm:*)', 'Bash(git push)'];
    for (const command of ['npm run rmx', 'ls rm-me.txt', 'git log', 'git pull', 'grep push git'])
      expect(await bash({ mode: 'bypassPermissions', deny }, command)).toBe('allow');
  });

  it('say why a command is not covered, in words for the model (A-29)', async () => {
    const message = async (command: string) => {
      const answer = await check({ allow }, 'Bash', { command });
      return answer.allow ? 'allowed' : answer.message;
    };
    expect(await message('ls > x')).toMatch(/redirects to or from a file.*Bash\(git status:\*\)/);
    expect(await message('ls && make all')).toMatch(/do not cover "make all"/);
  });
});

describe('asking for a permission', () => {
  it('gives the whole question, and the answer may change the input but not past a deny rule (A-29)', async () => {
    const questions: PermissionQuestion[] = [];
    const asking = (answer: PermissionAnswer, deny: readonly string[] = []) =>
      check(
        {
          deny,
          ask: async (question) => {
            questions.push(question);
            return answer;
          },
        },
        'Bash',
        { command: 'make' },
      );
    expect(await asking({ allow: true })).toEqual({ allow: true, input: { command: 'make' } });
    expect(questions[0]).toEqual({
      toolName: 'Bash',
      input: { command: 'make' },
      toolUseId: 't1',
      agentId: 'a1',
      label: 'one',
      phase: null,
      cwd,
      reason: 'no rule allows Bash in the permission mode "default"',
    });
    expect(await asking({ allow: true, updatedInput: { command: 'ls' } })).toEqual({
      allow: true,
      input: { command: 'ls' },
    });
    expect(await asking({ allow: true, updatedInput: { command: 'rm x' } }, ['Bash(rm:*)'])).toMatchObject({
      allow: false,
    });
    expect(await asking({ allow: false, message: 'Not today.' })).toEqual({ allow: false, message: 'Not today.' });
  });

  it('counts as no when it fails (A-29)', async () => {
    const ask = () => Promise.reject(new Error('the client is gone'));
    expect(await check({ ask }, 'Bash', { command: 'ls' })).toMatchObject({
      allow: false,
      message: expect.stringContaining('the client is gone'),
    });
  });
});

describe('a rule that means nothing', () => {
  it.each([
    ['Bash(', /no name of a tool/],
    ['Bash()', /nothing between its brackets/],
    ['(x)', /no name of a tool/],
    ['Bash(git * push)', /a \* may only end it/],
    ['Write(src/**)', /Edit\(src\/\*\*\)/],
    ['Grep(src)', /Read\(src\)/],
    ['Edit(/etc/**)', /as seen from the working directory/],
    ['Edit(../x)', /as seen from the working directory/],
    ['Edit([a)', /without its \]/],
    ['mcp__x(y)', /only Bash, Read and Edit/],
  ])('%s is refused with what to write (A-29)', (rule, expected) => {
    try {
      createPermissions({ deny: [rule] });
      expect.unreachable();
    } catch (error) {
      expect(isWorkflowError(error) && error.code).toBe('USAGE_INVALID');
      expect((error as Error).message).toMatch(expected);
    }
  });

  it('is found in a list that has commas and spaces inside brackets (A-29)', () => {
    expect(splitPermissionRules('Read, Edit(src/**)  Bash(git log, x:*),Bash(echo (a))')).toEqual([
      'Read',
      'Edit(src/**)',
      'Bash(git log, x:*)',
      'Bash(echo (a))',
    ]);
  });
});

describe('a call that nobody is there to allow', () => {
  it.each([
    [[], 'Bash', { command: 'git status --short' }, 'Bash(git status:*)'],
    [['Bash(cd:*)'], 'Bash', { command: 'cd src && npm run build | tee out' }, 'Bash(npm run:*)'],
    [[], 'Bash', { command: './build.sh -x' }, 'Bash(./build.sh:*)'],
    [[], 'Bash', { command: 'echo $(date) > now' }, 'Bash'],
    [[], 'Edit', { file_path: 'src/a.ts', old_string: 'a', new_string: 'b' }, 'Edit(src/**)'],
    [[], 'Write', { file_path: 'new.txt', content: '' }, 'Edit(new.txt)'],
    [['Edit'], 'Write', { file_path: '.mcp.json', content: '' }, 'Edit(.mcp.json)'],
    [[], 'mcp__docs__search', {}, 'mcp__docs__search'],
  ])('comes with the rule that allows it: %j %s %j (A-29)', async (allow, name, input, rule) => {
    const refused = await check({ allow }, name, input);
    expect(refused.allow ? undefined : refused.unattended?.rule).toBe(rule);
    expect((await check({ allow: [...allow, rule, 'Bash(tee:*)'] }, name, input)).allow).toBe(true);
  });

  it('is said of an agent at its end with the first, the number and the rules, of five agents a run (A-29)', async () => {
    const report = new FakeReporter();
    const { session } = toolContext(cwd, { report });
    const refuse = async (one: typeof session, name: string, input: unknown): Promise<void> => {
      const refused = await check({}, name, input);
      if (!refused.allow && refused.unattended !== undefined) one.refusals.add(refused.unattended);
    };
    await refuse(session, 'Bash', { command: `git log \u001b[31m${'x'.repeat(500)}` });
    await refuse(session, 'Edit', { file_path: 'src/a.ts', old_string: 'a', new_string: 'b' });
    await session.close();
    const [said = ''] = report.warnings;
    expect(said.length).toBeLessThan(400);
    expect(said).toMatch(
      /^The agent "test" was refused 2 calls that nobody was there to allow, the first: Bash `git log x+…`\. To allow such calls: --allow-tools 'Bash\(git log:\*\),Edit\(src\/\*\*\)'\.$/,
    );
    for (let n = 0; n < 8; n += 1) {
      const other = session.host.openSession(agentRequest('more', { cwd }), report);
      await refuse(other, 'Bash', { command: 'ls' });
      await other.close();
    }
    expect(report.warnings).toHaveLength(6);
    expect(report.warnings[1]).toContain('was refused a call that nobody was there to allow: Bash `ls`.');
    expect(report.warnings[5]).toBe('More agents were refused calls: their transcripts say which.');
  });
});
