// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts stand here as text
import { describe, expect, it } from 'vitest';
import { META, refused } from './refused.ts';

const NOT_TYPESCRIPT = /^(?![\s\S]*TypeScript)/;

describe('a syntax error', () => {
  it('shows file, line, column, the line and a caret (S-6)', () => {
    const error = refused(`${META}\nconst x = = 3\nreturn x\n`, 'flow.js');
    expect(error).toMatchObject({ code: 'SCRIPT_SYNTAX', place: { file: 'flow.js', line: 3, column: 11 } });
    expect(error.message).toBe("flow.js:3:11: Unexpected token '='.\n3 | const x = = 3\n  |           ^");
  });

  it.each([
    ['if (1) {\n}\n}\nreturn 1', 4, 1],
    ['return 1)', 2, 9],
    ['const a = 1; const a = 2', 2, 20],
    ['const meta = 2', 2, 7],
    ['/* never closed', 2, 1],
    ["return 'never closed", 2, 8],
    ['return 010', 2, 8],
    ['with (args) {}', 2, 1],
    ['return super.x', 2, 8],
    ['return <div/>', 2, 8],
    ['break', 2, 1],
  ])('%j has its place and does not blame TypeScript (S-6)', (text, line, column) => {
    const error = refused(META + text);
    expect(error).toMatchObject({ code: 'SCRIPT_SYNTAX', place: { line, column } });
    expect(error.message).toMatch(NOT_TYPESCRIPT);
  });

  it('at the end names the bracket that is open (S-6)', () => {
    expect(refused(`${META}if (1) { log([2)\n`).message).toContain("Unexpected token ')'");
    expect(refused(`${META}if (1) {\nlog(2)\n`).message).toContain('the { at 2:8 is not closed');
  });

  it.each([
    'await agent(`Use the `foo` helper`)',
    'await agent(`Use `as` here`)',
    'await agent(`Use `foo`! now`)',
    'await agent(`Use ` as ` here`)',
    'await agent(`Use ` foo ` here`)',
    'await agent(`Use `${1}` here`)',
    'await agent(`Use\n```js\nfoo()\n```\nplease`)',
    'await agent(`Use ```` here`)',
    'await agent(`Use ``` ``` here`)',
  ])('a backtick inside a prompt is named: %j (S-6)', (text) => {
    const error = refused(META + text);
    expect(error).toMatchObject({ code: 'SCRIPT_SYNTAX' });
    expect(error.message).toMatch(/backtick/);
    expect(error.message).toMatch(NOT_TYPESCRIPT);
  });

  it.each(['await agent(`Use the `foo` helper`)', 'await agent(`Use `as` here`)'])(
    'a backtick inside a prompt is named in a .ts script, too: %j (S-6)',
    (text) => {
      expect(refused(META + text, 'script.ts').message).toMatch(/backtick/);
    },
  );

  it('a template that never ends is named (S-6)', () => {
    expect(refused(`${META}await agent(\`Use foo)\nreturn 1\n`).message).toMatch(
      /Unterminated template[\s\S]*backtick/,
    );
  });

  it.each([
    ['${HOME:-none}', '${HOME:-none}'],
    ['${#list[@]}', '${#list[@]}'],
    ['${{ github.ref }}', '${{ github.ref }}'],
    ['${}', '${}'],
  ])('%j in a prompt is named as a substitution (S-6)', (text, shown) => {
    const error = refused(`${META}await agent(\`Look at ${text} now\`)`);
    expect(error.message).toContain(`\\${shown}`);
    expect(error.message).toMatch(NOT_TYPESCRIPT);
  });

  it.each([
    ['function f() { return await agent(1) }', '`async`'],
    ['const r = [1].map(x => await agent(x))', '`async`'],
    ['const r = \u201Cx\u201D', 'typographic'],
  ])('%j gets the hint %s (S-6)', (text, hint) => {
    expect(refused(META + text).message).toContain(hint);
  });

  it.each([
    ['NUL characters', `${META}\0\0`],
    ['UTF-16', Buffer.from(META, 'utf16le').toString('utf8')],
    ['not UTF-8', Buffer.from([0x89, 0x50, 0x4e, 0x47, 200, 201, 202, 203]).toString('utf8')],
  ])('a binary file is named: %s (S-6)', (what, text) => {
    const error = refused(text);
    expect(error).toMatchObject({ code: 'SCRIPT_SYNTAX' });
    expect(error.message).toContain(what);
  });
});

describe('TypeScript in a .js script', () => {
  it.each([
    ['const list: string[] = []', 11],
    ['const z = (args as number)', 17],
    ['interface Item { id: number }', 1],
    ['function f(a?: string) {}', 13],
    ['const a = args!.list', 15],
    ['const a = args satisfies object', 16],
  ])('%j is named (S-6)', (text, column) => {
    const error = refused(META + text);
    expect(error).toMatchObject({ code: 'SCRIPT_SYNTAX', place: { line: 2, column } });
    expect(error.message).toMatch(/Hint: This is TypeScript/);
  });

  it('is named for a typed meta (S-6)', () => {
    expect(refused("export const meta: Meta = { name: 'n', description: 'd' }").message).toContain('TypeScript');
  });

  it.each(['const a: string = = 1', 'if (a ! = b) log(1)', 'enum A { B }', 'const x: 5', 'def f(x): int'])(
    'is not blamed when its types are not what is wrong: %j (S-6)',
    (text) => {
      expect(refused(META + text).message).toMatch(NOT_TYPESCRIPT);
    },
  );
});

describe('nesting', () => {
  it.each([
    ['parentheses', `return ${'('.repeat(100_000)}${')'.repeat(100_000)}`],
    ['brackets that never close', `return ${'['.repeat(100_000)}`],
    ['templates', `return ${'`${'.repeat(20_000)}1${'}`'.repeat(20_000)}`],
    ['operators', `return ${'!'.repeat(100_000)}1`],
    ['sums', `return ${'1+'.repeat(200_000)}1`],
  ])('of %s beyond the stack is a syntax error with a place (S-6)', (_name, text) => {
    for (const fileName of ['script.js', 'script.ts']) {
      const error = refused(META + text, fileName);
      expect(error).toMatchObject({ code: 'SCRIPT_SYNTAX', place: { line: 2 } });
      expect(error.message).toContain('nested too deeply');
    }
  });
});
