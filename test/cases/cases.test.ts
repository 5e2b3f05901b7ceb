import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const ids = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.json') && name !== 'planned.json')
  .map((name) => name.replace(/[.]json$/, ''));
const planned = JSON.parse(readFileSync(`${import.meta.dirname}/planned.json`, 'utf8')) as readonly string[];

/** The cases themselves are run by tools/run-cases.mjs against the built command. */
describe('the list of planned cases', () => {
  it('names cases that exist, once each, in order', () => {
    expect(planned).toEqual([...new Set(planned)].sort());
    expect(planned.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('is a minority, so that the gate means something', () => {
    expect(planned.length).toBeLessThan(ids.length / 4);
  });
});
