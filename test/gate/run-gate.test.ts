import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSeededProject } from './seeded-project.ts';

const project = createSeededProject();
afterAll(() => project.remove());

function runGate(...steps: string[]) {
  const script = path.join(project.root, 'tools/run-gate.mjs');
  const { status, stdout } = spawnSync(process.execPath, [script, ...steps], { encoding: 'utf8' });
  return { status, lastLine: stdout.trimEnd().split('\n').at(-1), stdout };
}

describe('the gate as a whole', () => {
  it('ends with the counts alone on the last line, and with 0 when all is green', () => {
    expect(runGate('guest-types', 'layers')).toMatchObject({ status: 0, lastLine: '2 passed, 0 failed' });
  });

  it('goes on after a red step, shows what it said, and ends with 1', () => {
    const { status, lastLine, stdout } = runGate('fresh', 'layers');
    expect({ status, lastLine }).toEqual({ status: 1, lastLine: '1 passed, 1 failed' });
    expect(stdout).toMatch(/^FAIL .* fresh: .*\n {4}\S/m);
  });

  it('counts a suite that wrote no report as failed', () => {
    expect(runGate('cases')).toMatchObject({ status: 1, lastLine: '0 passed, 1 failed' });
  });

  it('refuses a step that it does not have', () => {
    expect(runGate('typos').status).toBe(64);
  });
});
