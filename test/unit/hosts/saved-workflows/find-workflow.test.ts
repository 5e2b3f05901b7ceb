import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findNestedWorkflow, readSavedWorkflow } from '../../../../hosts/saved-workflows/find-workflow.ts';
import { findKillSwitch } from '../../../../hosts/saved-workflows/kill-switch.ts';
import { listSavedWorkflows } from '../../../../hosts/saved-workflows/list-saved-workflows.ts';

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
    expect((await listSavedWorkflows(place.cwd, place.homeDirectory)).map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('an unknown name lists those that are, and the nearest (H-21)', async () => {
    put('project/.wf/workflows/greet.js');
    put('home/.claude/workflows/review.js');
    await expect(readSavedWorkflow('gret', place)).rejects.toMatchObject({
      code: 'WORKFLOW_UNKNOWN',
      message: expect.stringMatching(/"gret".*greet, review.*Did you mean greet/),
    });
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
