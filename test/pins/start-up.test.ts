import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EVERY_RUN } from '../../tools/bundle-shape.ts';

const root = path.resolve(import.meta.dirname, '../..');
const IMPORT = /^(?:import|export)\s(?!type\b)(?:[^;'"]*?\sfrom\s)?'([^']+)';/gm;

/** What the sources import before anything runs; the names of packages come without their paths. */
function reachedFrom(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    if (!name.endsWith('.ts')) return;
    for (const [, specifier = ''] of readFileSync(path.join(root, name), 'utf8').matchAll(IMPORT)) {
      visit(specifier.startsWith('.') ? path.join(path.dirname(name), specifier) : specifier);
    }
  };
  for (const name of names) visit(name);
  return seen;
}

describe('what every run loads', () => {
  it('is none of the large libraries: a start has 100 ms until its first line', () => {
    const reached = reachedFrom([...EVERY_RUN.library, ...EVERY_RUN.cli]);
    expect([...reached].filter((name) => !name.endsWith('.ts') && !name.startsWith('node:')).sort()).toEqual([
      'acorn',
      'canonicalize',
      'commander',
      'p-limit',
    ]);
  });

  it('is nothing at all before the sandbox is started, but what starts it', () => {
    expect(
      [...reachedFrom(['cli/main.ts'])].filter((name) => /^(agents|cache|emitters|hosts|cli)\//.test(name)),
    ).toEqual(['cli/main.ts', 'cli/output/text-output.ts']);
  });
});
