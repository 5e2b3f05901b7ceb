import { describe, expect, it } from 'vitest';
import { accepted, META, refused } from './refused.ts';

describe('a .ts script', () => {
  it.each([
    ['const a: number = 1', 'const a         = 1'],
    ['const b = args as string', 'const b = args          '],
    ["const größe: '漢字😀' = args", 'const größe         = args'],
    ['function f<T>(x?: T): T { return x! }', 'function f   (x    )    { return x  }'],
    ['type A = 1', '          '],
  ])('%j keeps every position (S-5, S-8)', (text, code) => {
    const script = accepted(`${META}${text}\nreturn 1`, 'script.ts');
    const stripped = script.code.split('\n')[2];
    expect(stripped?.replace(/\s/g, ' ')).toBe(code);
    expect(script.source).toBe(`${META}${text}\nreturn 1`);
  });

  it('may type its meta (S-5)', () => {
    const text = "export const meta: Meta = { name: 'n', description: 'd' } as const satisfies Meta\nreturn 1";
    expect(accepted(text, 'script.mts').meta.name).toBe('n');
  });

  it.each([
    ['enum A { B }', 'enum', 1],
    ['class A { constructor(private x: number) {} }', 'parameter property', 31],
    ['namespace N { export const a = 1 }', 'namespace', 1],
  ])('%j is refused by name (S-5)', (text, what, column) => {
    const error = refused(META + text, 'script.ts');
    expect(error).toMatchObject({ code: 'SCRIPT_SYNTAX', place: { file: 'script.ts', line: 2, column } });
    expect(error.message).toContain(what);
  });

  it.each([
    ["import type { A } from 'b'", 'import type'],
    ['export type A = 1', 'export type A'],
    ["import a = require('b')", 'import'],
  ])('%j is module syntax (S-5)', (text, form) => {
    const error = refused(META + text, 'script.ts');
    expect(error).toMatchObject({ code: 'SCRIPT_MODULE_SYNTAX', place: { line: 2, column: 1 } });
    expect(error.message).toContain(form);
  });

  it.each([
    ['const x: number = = 3'],
    ["const s: string = '漢字😀é'; const x = = 3"],
    ['\t\tconst x = = 3'],
    ["const s = '❤️\u200B👨‍👩‍👧'; const x = = 3"],
  ])('the place of an error is exact: %j (S-6)', (text) => {
    const column = text.indexOf('= 3') + 1;
    expect(refused(META + text, 'script.ts').place).toMatchObject({ line: 2, column });
  });

  it('finds a brace too many where it stands (S-6)', () => {
    expect(refused(`${META}if (1) {\n}\n}\nreturn 1\n`, 'script.ts').place).toMatchObject({ line: 4, column: 1 });
  });

  it('is parsed after some that were nested too deeply (S-6)', () => {
    for (let count = 0; count < 5; count += 1) refused(`${META}return ${'('.repeat(100_000)}`, 'script.ts');
    expect(accepted(`${META}return 1 as number`, 'script.ts').code).toContain('return 1          ');
  });
});
