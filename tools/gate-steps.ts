import { existsSync } from 'node:fs';
import path from 'node:path';

export interface GateStep {
  readonly name: string;
  readonly what: string;
  /** Programs and their arguments; all must end with 0. */
  readonly commands: readonly (readonly [string, ...string[]])[];
  /** Looks at what is in the repository and writes nothing. */
  readonly readsOnly?: true;
  /** A test suite: shown as it runs, and counted by the report it writes. */
  readonly suite?: 'vitest' | 'cases';
}

const SOURCE_FOLDERS = [
  'index.ts',
  'protocol',
  'dsl',
  'runtime',
  'agents',
  'cache',
  'emitters',
  'cli',
  'hosts',
  'web',
  'test',
  'bench',
];

/** Where the test suites leave their counts, below the root. */
export const SUITE_REPORTS = { vitest: 'temp/vitest.json', cases: 'temp/cases.json' } as const;

/**
 * The steps of the gate, in order, for a project at `root`.
 *
 * Contract: each command is run in `root`. `test/gate/` runs these same commands over seeded violations, so a step that
 * can no longer fail is noticed.
 */
export function gateSteps(root: string): readonly GateStep[] {
  const bin = (name: string) => path.join(root, 'node_modules', '.bin', name);
  const node = (...args: readonly string[]): [string, ...string[]] => [process.execPath, ...args];
  const sources = SOURCE_FOLDERS.filter((name) => existsSync(path.join(root, name)));
  return [
    { name: 'format', what: 'formatting (biome)', commands: [[bin('biome'), 'format', '.']], readsOnly: true },
    { name: 'types', what: 'types of the host (tsc)', commands: [[bin('tsc'), '-p', '.']], readsOnly: true },
    {
      name: 'guest-types',
      what: 'types of the guest, without Node (tsc)',
      commands: [[bin('tsc'), '-p', 'dsl']],
      readsOnly: true,
    },
    {
      name: 'lint',
      what: 'lint (biome)',
      commands: [[bin('biome'), 'check', '--formatter-enabled=false', '--error-on-warnings', '.']],
      readsOnly: true,
    },
    {
      name: 'promises',
      what: 'promises and switches (typescript-eslint)',
      commands: [[bin('eslint'), '.']],
      readsOnly: true,
    },
    {
      name: 'layers',
      what: 'layers (dependency-cruiser)',
      commands: [[bin('depcruise'), '--config', '.dependency-cruiser.cjs', ...sources]],
      readsOnly: true,
    },
    {
      name: 'fresh',
      what: 'generated files and snippets are fresh',
      commands: [
        node('tools/build-prelude.mjs', '--check'),
        node('tools/build-plugin.mjs', '--check'),
        node('tools/sync-snippets.mjs', '--check'),
      ],
      readsOnly: true,
    },
    { name: 'build', what: 'build (esbuild)', commands: [node('tools/build.mjs', '--js')] },
    {
      name: 'api',
      what: 'declarations and API report (api-extractor)',
      commands: [node('tools/build.mjs', '--types')],
    },
    { name: 'dead-code', what: 'dead code (knip)', commands: [[bin('knip')]] },
    { name: 'package', what: 'package shape (publint, attw)', commands: [node('tools/check-package.mjs')] },
    {
      name: 'tests',
      what: 'tests (vitest)',
      commands: [
        [bin('vitest'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${SUITE_REPORTS.vitest}`],
      ],
      suite: 'vitest',
    },
    {
      name: 'cases',
      what: 'cases, scripted and over the fake API',
      commands: [node('tools/run-cases.mjs', '--report', SUITE_REPORTS.cases)],
      suite: 'cases',
    },
  ];
}
