import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gateSteps } from '../../tools/gate-steps.ts';

const repository = path.join(import.meta.dirname, '../..');

/** What the tools of the gate read of this repository, besides sources. */
const CONFIGURATION = [
  ...['package.json', 'tsconfig.json', 'tsconfig.build.json', 'biome.json', 'eslint.config.mjs', 'knip.json'],
  ...['.dependency-cruiser.cjs', 'api-extractor.json', 'vitest.config.ts', 'dsl/tsconfig.json'],
];

export interface SeededProject {
  readonly root: string;
  /** Writes files for one check, runs one step of the gate over the project, and takes the files away again. */
  check(step: string, files?: Readonly<Record<string, string>>): { readonly red: boolean; readonly output: string };
  remove(): void;
}

/** Makes a project with this repository's rules and none of its sources, so that a violation can be seeded alone. */
export function createSeededProject(): SeededProject {
  const root = mkdtempSync(path.join(os.tmpdir(), 'wf-gate-'));
  for (const file of CONFIGURATION) cpSync(path.join(repository, file), path.join(root, file));
  cpSync(path.join(repository, 'tools'), path.join(root, 'tools'), { recursive: true });
  symlinkSync(path.join(repository, 'node_modules'), path.join(root, 'node_modules'));
  write(root, { 'index.ts': 'export const answer = 42;\n', 'dsl/words.ts': 'export const word = 1;\n' });
  return {
    root,
    check: (step, files = {}) => {
      write(root, files);
      try {
        return runStep(root, step);
      } finally {
        for (const file of Object.keys(files)) rmSync(path.join(root, file));
      }
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
}

function runStep(root: string, name: string): { red: boolean; output: string } {
  const step = gateSteps(root).find((candidate) => candidate.name === name);
  if (!step) throw new Error(`the gate has no step ${name}`);
  const runs = step.commands.map(([program, ...args]) => spawnSync(program, args, { cwd: root, encoding: 'utf8' }));
  return {
    red: runs.some((run) => run.status !== 0),
    output: runs.map((run) => `${run.stdout}${run.stderr}${run.error?.message ?? ''}`).join('\n'),
  };
}
