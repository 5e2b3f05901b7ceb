import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = path.dirname(import.meta.dirname);
const NUMBER = /\b[SAREWHGC]-\d+\b/g;

type Status = 'proven' | 'part' | 'planned';

/** Numbers and statuses of docs/requirements.md. */
function claimed(): Map<string, Status> {
  const text = readFileSync(path.join(root, 'docs/requirements.md'), 'utf8');
  const rows = text.matchAll(/^\| (?<number>[SAREWHGC]-\d+) \| .+ \| (?<status>proven|part|planned) \|$/gm);
  return new Map(Array.from(rows, ({ groups }) => [groups?.number ?? '', groups?.status as Status]));
}

/** Titles of `it`, `test` and `describe` calls, `it.each(…)('title')` and the like included. */
function titlesIn(source: string): string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    const [first] = ts.isCallExpression(node) ? node.arguments : [];
    if (ts.isCallExpression(node) && first && /^(it|test|describe)\b/.test(node.expression.getText())) {
      titles.push(first.getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('x.test.ts', source, ts.ScriptTarget.Latest, true));
  return titles;
}

/** Where each number is cited: test files by their titles, cases by `proves`. */
function cited(): Map<string, string[]> {
  const places = new Map<string, string[]>();
  const add = (number: string, place: string) => places.set(number, [...(places.get(number) ?? []), place]);
  for (const file of globSync('test/**/*.test.ts', { cwd: root })) {
    const titles = titlesIn(readFileSync(path.join(root, file), 'utf8')).join('\n');
    for (const number of new Set(titles.match(NUMBER))) add(number, file);
  }
  const planned = readCase('planned') as string[];
  for (const file of globSync('test/cases/*.json', { cwd: root })) {
    const id = path.basename(file, '.json');
    if (id === 'planned' || planned.includes(id)) continue;
    for (const number of (readCase(id) as { proves: string[] }).proves) add(number, file);
  }
  return places;
}

function readCase(id: string): unknown {
  return JSON.parse(readFileSync(path.join(root, 'test/cases', `${id}.json`), 'utf8'));
}

describe('docs/requirements.md', () => {
  const claims = claimed();
  const citations = cited();

  it('has every number once', () => {
    const last = { S: 33, A: 34, R: 26, E: 18, W: 7, H: 22, G: 4, C: 12 };
    const all = Object.entries(last).flatMap(([letter, count]) =>
      Array.from({ length: count }, (_, index) => `${letter}-${index + 1}`),
    );
    expect([...claims.keys()]).toEqual(all);
  });

  it('claims nothing that no test shows', () => {
    const unshown = [...claims].filter(([number, status]) => status !== 'planned' && !citations.has(number));
    expect(unshown.map(([number]) => number)).toEqual([]);
  });

  it('knows every number that a test cites', () => {
    const unknown = [...citations].filter(([number]) => !claims.has(number));
    expect(unknown).toEqual([]);
  });

  it('finds titles in the forms that tests use', () => {
    const source =
      "describe('a (S-1)', () => { it.each([1, 2])(`b (S-2) %i`, () => {}); test.fails('c (S-3)', f) }); say('d (S-4)')";
    expect(titlesIn(source).join(' ').match(NUMBER)).toEqual(['S-1', 'S-2', 'S-3']);
  });
});
