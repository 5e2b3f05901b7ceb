import { afterAll, describe, expect, it } from 'vitest';
import { createSeededProject } from './seeded-project.ts';

const project = createSeededProject();
afterAll(() => project.remove());

/** A check that cannot fail is no check: each is shown one violation that it must name, and a project that has none. */
interface Violation {
  readonly step: string;
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  /** What the tool must say. */
  readonly says: RegExp;
  /** Its files would change what the other violations of the step are. */
  readonly alone?: true;
}

const promise = 'export async function later(): Promise<number> {\n  return 1;\n}\n';

const violations: readonly Violation[] = [
  {
    step: 'format',
    title: 'a file in another format',
    files: { 'protocol/odd.ts': 'export const a = {b:1}\n' },
    says: /protocol\/odd\.ts/,
  },
  {
    step: 'types',
    title: 'an index that may be undefined',
    files: { 'runtime/first.ts': 'export const first = (texts: string[]): string => texts[0];\n' },
    says: /runtime\/first\.ts.*undefined/,
  },
  ...['process.pid', "fetch('x')", 'console.log(1)', 'document.title', "import('node:fs')"].map((words, index) => ({
    step: 'guest-types',
    title: `the guest saying ${words}`,
    files: { [`dsl/escape-${index}.ts`]: `export const escape = () => ${words};\n` },
    says: new RegExp(`escape-${index}\\.ts.*error TS`),
  })),
  {
    step: 'lint',
    title: 'a default export',
    files: { 'runtime/main.ts': 'export default 1;\n' },
    says: /noDefaultExport/,
  },
  {
    step: 'lint',
    title: 'a test that runs alone',
    files: { 'test/one.test.ts': "import { it } from 'vitest';\n\nit.only('x', () => {});\n" },
    says: /noFocusedTests/,
  },
  {
    step: 'lint',
    title: 'a file name that is not kebab-case',
    files: { 'runtime/bigName.ts': 'export const a = 1;\n' },
    says: /useFilenamingConvention/,
  },
  {
    step: 'lint',
    title: 'the environment read outside the command line',
    files: { 'agents/key.ts': "export const key = process.env['KEY'];\n" },
    says: /noProcessEnv/,
  },
  {
    step: 'lint',
    title: 'a file over 400 lines',
    files: { 'runtime/long.ts': `export const numbers = [\n${'  1,\n'.repeat(400)}];\n` },
    says: /noExcessiveLinesPerFile/,
  },
  {
    step: 'promises',
    title: 'a promise left alone',
    files: { 'runtime/left-alone.ts': `${promise}export function f() {\n  later();\n}\n` },
    says: /left-alone\.ts[\s\S]{0,400}no-floating-promises/,
  },
  {
    step: 'promises',
    title: 'a promise used as a condition',
    files: { 'runtime/as-condition.ts': `${promise}export const f = () => (later() ? 1 : 2);\n` },
    says: /as-condition\.ts[\s\S]{0,400}no-misused-promises/,
  },
  {
    step: 'promises',
    title: 'an await of what is no promise',
    files: { 'runtime/await-number.ts': 'export async function f() {\n  await 1;\n}\n' },
    says: /await-number\.ts[\s\S]{0,400}await-thenable/,
  },
  {
    step: 'promises',
    title: 'a promise returned out of its try',
    files: {
      'runtime/out-of-try.ts': `${promise}export async function f() {\n  try {\n    return later();\n  } catch {\n    return 2;\n  }\n}\n`,
    },
    says: /out-of-try\.ts[\s\S]{0,400}return-await/,
  },
  {
    step: 'promises',
    title: 'a switch that forgets a case',
    files: {
      'runtime/forgotten-case.ts':
        "export function f(a: 'x' | 'y') {\n  switch (a) {\n    case 'x':\n      return 1;\n  }\n  return 2;\n}\n",
    },
    says: /forgotten-case\.ts[\s\S]{0,400}switch-exhaustiveness-check/,
  },
  layer('protocol-stands-alone', 'protocol', '../runtime/b.ts'),
  layer('protocol-stands-alone', 'protocol', 'node:fs'),
  layer('dsl-is-pure', 'dsl', 'node:fs'),
  layer('dsl-is-pure', 'dsl', 'zod'),
  layer('runtime-looks-down', 'runtime', '../agents/b.ts'),
  layer('runtime-looks-down', 'runtime', '../cli/b.ts'),
  layer('adapters-know-ports-only', 'cache', '../agents/b.ts'),
  layer('adapters-know-ports-only', 'emitters', '../runtime/b.ts'),
  layer('faces-stand-apart', 'hosts', '../cli/b.ts'),
  layer('index-is-the-outside', 'cli', '../index.ts'),
  layer('product-knows-no-tests', 'cli', '../test/b.ts'),
  layer('one-door-to-the-isolate', 'runtime', 'isolated-vm'),
  layer('everything-resolves', 'runtime', './nowhere.ts'),
  {
    step: 'layers',
    title: 'two files that import each other',
    files: {
      'runtime/a.ts': "import { b } from './b.ts';\nexport const a = () => b;\n",
      'runtime/b.ts': "import { a } from './a.ts';\nexport const b = () => a;\n",
    },
    says: /no-cycles/,
  },
  {
    step: 'fresh',
    title: 'a guest that was changed and not bundled again',
    files: { 'dsl/door.ts': 'export const openDoor = 1;\n', 'runtime/sandbox/prelude.generated.ts': 'x\n' },
    says: /prelude\.generated\.ts is stale/,
  },
  {
    step: 'fresh',
    title: 'a snippet that differs from its file',
    files: { 'README.md': '<!-- snippet: index.ts -->\n```ts\nexport const answer = 41;\n```\n' },
    says: /README\.md: a snippet is stale/,
  },
  {
    step: 'fresh',
    title: 'a fence of code that no file backs',
    files: { 'docs/design/x.md': '```js\nagent(1);\n```\n' },
    says: /names no file that runs/,
  },
  {
    step: 'build',
    title: 'an import that no bundle can follow',
    files: {
      'cli/main.ts': "import './nowhere.ts';\n",
      'runtime/sandbox/child/main.ts': 'export {};\n',
    },
    says: /Could not resolve "\.\/nowhere\.ts"/,
  },
  {
    step: 'api',
    title: 'a public name that the API report does not know',
    files: {
      'index.ts': 'export const answer = 42;\nexport const more = 43;\n',
      'docs/api.api.md': '## API Report File for "wf-runtime"\n',
    },
    says: /You have changed the API signature/,
  },
  {
    step: 'dead-code',
    title: 'an export that nobody imports',
    files: {
      'index.ts': "export { used } from './runtime/a.ts';\n",
      'runtime/a.ts': 'export const used = 1;\nexport const unused = 2;\n',
    },
    says: /unused\b.*runtime\/a\.ts/,
    alone: true,
  },
  {
    step: 'dead-code',
    title: 'a file that nobody imports',
    files: { 'runtime/alone.ts': 'export const a = 1;\n' },
    says: /runtime\/alone\.ts/,
  },
  {
    step: 'package',
    title: 'an entry point that was not built',
    files: { 'bin/wf.mjs': '#!/usr/bin/env node\n' },
    says: /dist\/index\.js/,
  },
];

/** One import that a layer forbids. */
function layer(rule: string, folder: string, to: string): Violation {
  const target = to.startsWith('../') && to !== '../index.ts' ? { [to.slice(3)]: 'export const b = 1;\n' } : {};
  const from = `${folder}/to-${to.replace(/[^a-z]+/g, '-')}.ts`;
  return {
    step: 'layers',
    title: `${folder}/ importing ${to} (${rule})`,
    files: { ...target, [from]: `import * as b from '${to}';\nexport const a = () => b;\n` },
    says: new RegExp(`${rule}: ${from} → `),
  };
}

const seen = new Map<string, { readonly red: boolean; readonly output: string }>();

/** What a step says of all its violations at once, since tools take longer to start than to look; of one that stands alone, by itself. */
function outcomeOf({ step, files, alone }: Violation): { readonly red: boolean; readonly output: string } {
  if (alone === true) return project.check(step, files);
  const others = violations.filter((other) => other.step === step && other.alone !== true);
  const outcome = seen.get(step) ?? project.check(step, Object.assign({}, ...others.map((other) => other.files)));
  seen.set(step, outcome);
  return outcome;
}

describe('each check of the gate', () => {
  it.each(violations)('$step is red for $title', (violation) => {
    const { red, output } = outcomeOf(violation);
    expect(output).toMatch(violation.says);
    expect(red).toBe(true);
  });

  it.each(['format', 'types', 'guest-types', 'lint', 'promises', 'layers'])(
    '%s is green without a violation',
    (step) => {
      const { red, output } = project.check(step);
      expect(output).not.toMatch(/error/i);
      expect(red).toBe(false);
    },
  );
});
