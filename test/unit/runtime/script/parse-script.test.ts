import vm from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createScopeHooks } from '../../../../dsl/scope-hooks.ts';
import { PROGRAM_PARAMETERS } from '../../../../runtime/script/program-parameters.ts';
import { accepted, META, refused } from './refused.ts';

/** Compiles and runs a script's code as the sandbox does, without any of the globals. */
function run(code: string): Promise<unknown> {
  const outer: (...given: unknown[]) => () => Promise<unknown> = vm.runInNewContext(
    code,
    {},
    { lineOffset: -1, filename: 'script.js' },
  );
  return outer(...PROGRAM_PARAMETERS.map(() => undefined), ...createScopeHooks())();
}

describe('the text of a script', () => {
  it.each([
    ['a BOM', (text: string) => `\uFEFF${text}`],
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['CR', (text: string) => text.replaceAll('\n', '\r')],
  ])('%s changes neither source nor code (S-1)', (_name, change) => {
    const text = `${META}// note\nreturn \`a\nb\`\n`;
    expect(accepted(change(text))).toEqual(accepted(text));
  });

  it('at most 524,288 characters are accepted, counted after line ends are normalised (S-1)', () => {
    const fill = (length: number) => `${META}//`.padEnd(length, 'x');
    expect(accepted(fill(524_288)).source).toHaveLength(524_288);
    expect(accepted(fill(524_288).replace('\n', '\r\n')).source).toHaveLength(524_288);
    expect(refused(fill(524_289))).toMatchObject({ code: 'SCRIPT_TOO_LARGE', place: { line: 2 } });
  });

  it.each([
    ['', 'empty'],
    [' \n\t\n', 'empty'],
    ['// one\n/* two */\n', 'comments only'],
    ['#!/usr/bin/env wf\n', 'comments only'],
  ])('%j is refused as %s (S-6)', (text, what) => {
    expect(refused(text)).toMatchObject({ code: 'SCRIPT_EMPTY', message: expect.stringContaining(what) });
  });
});

describe('the code of a script', () => {
  it('is one function of the globals whose inner function has the body at the same positions (S-5, S-8)', () => {
    const { code } = accepted(`${META}return 1`);
    const lines = code.split('\n');
    expect(lines[0]).toBe(`(function (${PROGRAM_PARAMETERS.join(', ')}) { return async function () { "use strict";`);
    expect(lines[1]).toBe("       const meta = { name: 'case', description: 'a test' }");
    expect(lines.slice(2)).toEqual(['return 1', '} })']);
  });

  it('runs the body as a strict async function (S-5)', async () => {
    const { code } = accepted(`${META}return [this === undefined, await Promise.resolve(2), meta.name]`);
    expect([...((await run(code)) as unknown[])]).toEqual([true, 2, 'case']);
  });

  it('has the author’s lines in its stacks (S-8)', async () => {
    const { code } = accepted(`${META}\n\n  throw new Error('here')`);
    await expect(run(code)).rejects.toMatchObject({ stack: expect.stringContaining('script.js:4:9') });
  });

  it('lets a local shadow any global of the workflow (S-5)', async () => {
    const names = PROGRAM_PARAMETERS.filter((name) => name !== 'meta');
    const { code } = accepted(`${META}${names.map((name) => `const ${name} = 1`).join('\n')}\nreturn args + agent`);
    expect(await run(code)).toBe(2);
  });

  it('accepts an interpreter line (S-2)', async () => {
    expect(await run(accepted(`#!/usr/bin/env wf\n${META}return 3`).code)).toBe(3);
  });

  it.each([
    'return 1\n} }); leak(); (function () { return async function () {',
    'return 1\n}, async function () {',
    '}\nreturn leak()\n{',
    'let x = 1, y = 2\nif (x <!--y) { return 1\n}',
    'return 1<!--\n',
    'let x = 1\n--> }',
    '*/ } /*',
  ])('%j cannot leave the wrapper (S-5)', (text) => {
    expect(refused(META + text)).toMatchObject({ code: 'SCRIPT_SYNTAX', place: { file: 'script.js' } });
  });

  it('keeps what only looks like a way out (S-5)', async () => {
    const text = `${META}let x = 3, n = 0\nwhile (x --> 0) n += 1\nreturn [n, '<!-- } })', \`-->\n}\`].join()`;
    expect(await run(accepted(text).code)).toBe('3,<!-- } }),-->\n}');
  });
});

describe('module syntax', () => {
  it.each([
    ["import fs from 'fs'", 'import fs from'],
    ["import { a } from 'b'", 'import … from'],
    ["import 'b'", "import 'b'"],
    ["const a = await import('b')", 'import()'],
    ['return import.meta.url', 'import.meta'],
    ["function f() { import x from 'y' }", 'import x from'],
    ['export default function () {}', 'export default'],
    ['export const other = 1', 'export const other'],
    ['export { meta }', 'export {…}'],
    ["export * from 'b'", 'export *'],
  ])('%j is refused by name (S-5, S-6)', (text, form) => {
    const error = refused(`${META}log(1)\n${text}`);
    expect(error).toMatchObject({ code: 'SCRIPT_MODULE_SYNTAX', place: { file: 'script.js', line: 3 } });
    expect(error.message).toContain(`\`${form}\``);
  });

  it('a syntax error that stands before it is reported first (S-6)', () => {
    expect(refused(`${META}const = 1\nexport const b = 1`)).toMatchObject({
      code: 'SCRIPT_SYNTAX',
      place: { line: 2 },
    });
  });
});
