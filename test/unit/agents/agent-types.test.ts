import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILT_IN_AGENT_TYPES, findAgentType, loadAgentTypes } from '../../../agents/agent-types.ts';
import { chooseTools } from '../../../agents/tools/choose-tools.ts';
import { DEFAULT_TOOLS } from '../../../agents/tools/default-tools.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'wf-types-'));
  const put = async (file: string, text: string): Promise<void> => {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  };
  await put(
    'home/.claude/agents/reviewer.md',
    '---\nname: reviewer\ndescription: of the user\nmodel: opus\n---\nUser.\n',
  );
  await put('home/.wf/agents/helper.md', '---\r\ntools: [Read, "Grep"]\r\nmodel: inherit\r\n---\r\nHelp.\r\n');
  await put(
    'project/.codebuddy/agents/reviewer.md',
    '---\nname: reviewer\ndescription: of the project\n---\nProject.\n',
  );
  await put(
    'project/.wf/agents/Explore.md',
    '---\nname: Explore\ntools:\n  - Glob\ndisallowedTools: Bash, Write\n---\n',
  );
  await put('project/.wf/agents/plain.md', 'No head at all.\n--- not one\n');
  await put('project/.wf/agents/notes.txt', 'no type');
});
afterAll(() => rm(root, { recursive: true }));

describe('agent types', () => {
  it('come from the user and the project, and the project wins (A-28)', async () => {
    const types = await loadAgentTypes({ cwd: path.join(root, 'project'), home: path.join(root, 'home') });
    expect([...types.keys()].sort()).toEqual(['Explore', 'Plan', 'general-purpose', 'helper', 'plain', 'reviewer']);
    expect(types.get('reviewer')).toEqual({
      name: 'reviewer',
      description: 'of the project',
      instructions: 'Project.',
    });
    expect(types.get('helper')).toEqual({
      name: 'helper',
      description: '',
      tools: ['Read', 'Grep'],
      instructions: 'Help.',
    });
    expect(types.get('Explore')).toMatchObject({ tools: ['Glob'], disallowedTools: ['Bash', 'Write'] });
    expect(types.get('plain')?.instructions).toBe('No head at all.\n--- not one');
  });

  it('hold in the folders below the root of their project, the nearer one first (A-28)', async () => {
    const project = path.join(root, 'repository');
    await mkdir(path.join(project, '.git'), { recursive: true });
    for (const [folder, text] of [
      ['.claude/agents/one.md', 'Root one.'],
      ['.claude/agents/two.md', 'Root two.'],
      ['sub/.wf/agents/two.md', 'Sub two.'],
    ] as const) {
      await mkdir(path.dirname(path.join(project, folder)), { recursive: true });
      await writeFile(path.join(project, folder), text);
    }
    const types = await loadAgentTypes({ cwd: path.join(project, 'sub'), home: path.join(root, 'nowhere') });
    expect([types.get('one')?.instructions, types.get('two')?.instructions]).toEqual(['Root one.', 'Sub two.']);
  });

  it.each([
    ['tools: Read, Grep', ['Read', 'Grep']],
    ['tools: [Read, "Grep"]', ['Read', 'Grep']],
    ["tools:\n  - Read\n  - 'Grep'", ['Read', 'Grep']],
    ['tools: []', []],
    ['tools:', undefined],
    ['tools: "*"', undefined],
    ['# tools: Read', undefined],
  ])('take %j as their tools (A-28)', async (line, tools) => {
    const cwd = path.join(root, 'forms');
    await mkdir(path.join(cwd, '.wf/agents'), { recursive: true });
    await writeFile(
      path.join(cwd, '.wf/agents/a.md'),
      `---\nname: a\n${line}\ndescription: >-\n  Use when: asked,\n  and not else.\n---\nDo it.`,
    );
    const type = (await loadAgentTypes({ cwd, home: cwd })).get('a');
    expect(type?.tools).toEqual(tools);
    expect(type).toMatchObject({ description: 'Use when: asked, and not else.', instructions: 'Do it.' });
  });

  it('are the built-in ones where there are no folders (A-28)', async () => {
    const nowhere = path.join(root, 'nowhere');
    expect(await loadAgentTypes({ cwd: nowhere, home: nowhere })).toEqual(new Map(BUILT_IN_AGENT_TYPES));
  });

  it('are named in the error when one is unknown (A-4)', () => {
    expect(findAgentType(BUILT_IN_AGENT_TYPES, undefined)).toBeUndefined();
    expect(() => findAgentType(BUILT_IN_AGENT_TYPES, 'nobody')).toThrow(/"nobody".*general-purpose, Explore, Plan/);
  });

  it('narrow the tools, as the call may further; a denied tool stays denied (A-28, A-29)', () => {
    const names = (...parts: Parameters<typeof chooseTools>) => chooseTools(...parts).map(({ name }) => name);
    const type = { name: 't', description: '', tools: ['Read', 'Grep'] };
    expect(names(DEFAULT_TOOLS, {}, undefined)).toEqual(DEFAULT_TOOLS.map(({ name }) => name));
    expect(names(DEFAULT_TOOLS, {}, type)).toEqual(['Read', 'Grep']);
    expect(names(DEFAULT_TOOLS, { tools: ['Read', 'Glob'] }, type)).toEqual(['Read']);
    expect(names(DEFAULT_TOOLS, { tools: ['Read'], disallowedTools: ['Read'] }, undefined)).toEqual([]);
    expect(names(DEFAULT_TOOLS, { tools: ['Bash'] }, undefined)).toEqual(['Bash', 'BashOutput']);
    expect(names(DEFAULT_TOOLS, { disallowedTools: ['Bash', 'Write'] }, undefined)).toEqual([
      'Read',
      'Glob',
      'Grep',
      'Edit',
    ]);
    const denying = { name: 'd', description: '', disallowedTools: ['Bash', 'Grep'] };
    expect(names(DEFAULT_TOOLS, {}, denying)).toEqual(['Read', 'Glob', 'Edit', 'Write']);
    expect(names(DEFAULT_TOOLS, { tools: ['Grep', 'Edit'] }, { ...denying, tools: ['Edit', 'Grep'] })).toEqual([
      'Edit',
    ]);
  });
});
