import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeSavedWorkflows } from '../../../../hosts/saved-workflows/describe-saved-workflows.ts';
import { findNestedWorkflow, readSavedWorkflow } from '../../../../hosts/saved-workflows/find-workflow.ts';
import { findKillSwitch } from '../../../../hosts/saved-workflows/kill-switch.ts';
import { listSavedWorkflows } from '../../../../hosts/saved-workflows/list-saved-workflows.ts';
import { parseScript } from '../../../../runtime/script/parse-script.ts';

const valid = (name: string): string => `export const meta = { name: '${name}', description: 'd' }\nreturn 1\n`;

let root: string;
let place: { cwd: string; homeDirectory: string };

function put(name: string, content = name): string {
  const file = join(root, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wf-find-'));
  mkdirSync(join(root, 'project/deep'), { recursive: true });
  mkdirSync(join(root, 'home'));
  place = { cwd: join(root, 'project/deep'), homeDirectory: join(root, 'home') };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('saved workflows', () => {
  it('the nearest of a name wins: here, then upwards, then home (H-21)', async () => {
    put('home/.wf/workflows/greet.js');
    expect((await readSavedWorkflow('greet', place)).text).toBe('home/.wf/workflows/greet.js');
    put('project/.codebuddy/workflows/greet.js');
    expect((await readSavedWorkflow('greet', place)).text).toBe('project/.codebuddy/workflows/greet.js');
    put('project/.claude/workflows/greet.js');
    expect((await readSavedWorkflow('greet', place)).text).toBe('project/.claude/workflows/greet.js');
    put('project/.wf/workflows/greet.ts');
    expect((await readSavedWorkflow('greet', place)).fileName).toBe('greet.ts');
    put('project/deep/.codebuddy/workflows/greet.js');
    expect((await readSavedWorkflow('greet', place)).text).toBe('project/deep/.codebuddy/workflows/greet.js');
  });

  it('names are stems; folders and other files are not listed (H-21)', async () => {
    put('project/.wf/workflows/b.js');
    put('project/.wf/workflows/a.ts');
    put('project/.wf/workflows/notes.md');
    put('project/.wf/workflows/folder.js/inner.js');
    const listed = await listSavedWorkflows(place.cwd, place.homeDirectory);
    expect(listed.filter(({ builtIn }) => !builtIn).map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('an unknown name lists those that may run, those that are built in among them, and the nearest (H-21)', async () => {
    put('project/.wf/workflows/greet.js', valid('greet'));
    put('home/.claude/workflows/tidy.js', valid('tidy'));
    put('home/.claude/workflows/broken.js');
    await expect(readSavedWorkflow('gret', place)).rejects.toMatchObject({
      code: 'WORKFLOW_UNKNOWN',
      message: expect.stringMatching(/"gret".*Known are: deep-research, greet, review, tidy\. Did you mean greet/),
    });
  });

  it('what may run is described; a file without a valid meta is not, and says why when it is named (H-21)', async () => {
    put('project/.wf/workflows/greet.js', valid('Greet'));
    put('project/.wf/workflows/late.js', `'use strict'\n${valid('late')}`);
    const described = await describeSavedWorkflows(place);
    expect(described.map(({ name, meta, builtIn }) => [name, meta.name, builtIn])).toEqual([
      ['deep-research', 'deep-research', true],
      ['greet', 'Greet', false],
      ['review', 'review', true],
    ]);
    const { text, fileName } = await readSavedWorkflow('late', place);
    expect(() => parseScript(text, { fileName })).toThrow(/meta/);
  });

  it('one of the user’s goes before one that is built in, also when it is broken (H-21)', async () => {
    expect((await readSavedWorkflow('review', place)).path).toContain('built-in');
    put('home/.wf/workflows/review.js');
    expect((await readSavedWorkflow('review', place)).text).toBe('home/.wf/workflows/review.js');
    expect((await describeSavedWorkflows(place)).map(({ name }) => name)).toEqual(['deep-research']);
  });
});

describe('a nested workflow', () => {
  it('a path is looked up beside its caller first, then in the working directory (S-18)', async () => {
    put('project/deep/child.js', 'of the working directory');
    expect((await findNestedWorkflow({ scriptPath: 'child.js' }, join(root, 'lib'), place)).text).toBe(
      'of the working directory',
    );
    put('lib/child.js', 'of the caller');
    expect((await findNestedWorkflow({ scriptPath: 'child.js' }, join(root, 'lib'), place)).text).toBe('of the caller');
  });

  it('a name is looked up as on the command line, and is never a path (S-18, H-21)', async () => {
    put('project/deep/child.js');
    put('home/.wf/workflows/child.js');
    expect((await findNestedWorkflow({ name: 'child' }, root, place)).text).toBe('home/.wf/workflows/child.js');
    await expect(findNestedWorkflow({ name: '../child' }, root, place)).rejects.toMatchObject({
      code: 'WORKFLOW_UNKNOWN',
    });
  });
});

describe('the kill switch', () => {
  it.each(['WF_DISABLE_WORKFLOWS', 'CODEBUDDY_DISABLE_WORKFLOWS', 'CLAUDE_CODE_DISABLE_WORKFLOWS'])(
    '%s=1 switches workflows off and is named (H-5)',
    (name) => {
      expect(findKillSwitch({ ...place, env: { [name]: '1' } })).toContain(name);
      expect(findKillSwitch({ ...place, env: { [name]: '0' } })).toBeUndefined();
    },
  );

  it.each([
    ['project/deep/.wf/settings.json', { disableWorkflows: true }],
    ['project/.codebuddy/settings.json', { enableWorkflows: false }],
    ['home/.claude/settings.json', { disableWorkflows: true }],
  ])('%s with %j switches workflows off and is named (H-5)', (file, settings) => {
    const path = put(file, JSON.stringify(settings));
    expect(findKillSwitch({ ...place, env: {} })).toContain(path);
  });

  it('settings that say nothing of it, or are broken, switch nothing (H-5)', () => {
    put('project/.claude/settings.json', '{"disableWorkflows": "no", "enableWorkflows": true}');
    put('home/.wf/settings.json', '{');
    expect(findKillSwitch({ ...place, env: {} })).toBeUndefined();
  });
});
