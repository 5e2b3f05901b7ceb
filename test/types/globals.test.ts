import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const declarations = fileURLToPath(new URL('../../dsl/globals.d.ts', import.meta.url));

/** Type-checks a script against the published declarations and nothing else, and gives the messages. */
function check(body: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'wf-types-'));
  const file = join(folder, 'script.ts');
  writeFileSync(file, `export {}\nasync function script() {\n${body}\n}\nvoid script\n`);
  const program = ts.createProgram([file, declarations], {
    noEmit: true,
    strict: true,
    types: [],
    lib: ['lib.es2024.d.ts'],
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.ESNext,
  });
  const messages = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  rmSync(folder, { recursive: true });
  return messages;
}

describe('the declarations for authors', () => {
  it('know every global of a script and follow values through helpers (S-9, S-10, S-11, S-14, S-17)', () => {
    const body = `
      phase('Look')
      const texts = await parallel(['a', 'b'].map((name) => () => agent('about ' + name, { label: name })))
      const length: number = texts.filter((text) => text !== null).map((text) => text.length).length
      const titles = await pipeline([1, 2], (n) => agent<{ title: string }>('item ' + n, { schema: { type: 'object' } }), (found, n) => found.title + n)
      const first: string | null | undefined = titles[0]
      const value = await phase('Sum', async () => 42)
      log({ length, first, left: budget.remaining(), value: value + 1 })
      console.warn('careful', args?.question)
      const nested = await workflow({ scriptPath: 'other.js' }, { n: 1 })
      return [nested, setTimeout(() => {}, 5)]`;
    expect(check(body)).toEqual([]);
  });

  it('refuse promises where functions belong, and names of the outside (S-10, S-20)', () => {
    expect(check(`await parallel([agent('eager')])`).join()).toMatch(/not assignable/);
    expect(check(`process.exit()`).join()).toMatch(/process/);
    expect(check(`await fetch('x')`).join()).toMatch(/fetch/);
    expect(check(`await agent('x', { effort: 'zealous' })`).join()).toMatch(/zealous|overload/i);
  });
});
