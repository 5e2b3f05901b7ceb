import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePlace, type Place, script } from './wf-process.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
  place.put('a.js', script("return await parallel(['one', 'two'].map((item) => () => agent(item)))"));
  place.put('b.js', script("return [await agent('two'), await agent('three')]"));
  place.put('r.json', { default: [{ text: 'planned' }] });
  place.put('other.json', { default: [{ text: 'planned anew' }] });
});
afterEach(() => place.remove());

async function run(name: string, ...options: string[]) {
  const { exit, stdout, stderr } = await place.run('run', name, '--output-format', 'json', ...options);
  expect([exit, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** Files that hold the values of the store. */
function values(): string[] {
  return readdirSync(join(place.state, 'shared-results/content-v2'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe('--reuse', () => {
  it('takes answers of an earlier run of another script, and only when it is asked to (R-19)', async () => {
    await run('a.js', '--responses', 'r.json', '--reuse');
    const plain = await run('b.js', '--responses', 'other.json');
    expect(plain).toMatchObject({ result: ['planned anew', 'planned anew'], census: { agents_cached: 0 } });
    const reusing = await run('b.js', '--responses', 'other.json', '--reuse');
    expect(reusing).toMatchObject({ result: ['planned', 'planned anew'], census: { agents_cached: 1 } });
  });

  it('a run without it leaves nothing (R-19)', async () => {
    await run('a.js', '--responses', 'r.json');
    expect(readdirSync(place.state)).toEqual(['runs']);
  });

  it('what was taken is in the journal: a resume needs the store no more (R-19, R-8)', async () => {
    await run('a.js', '--responses', 'r.json', '--reuse');
    const { runId } = await run('a.js', '--responses', 'other.json', '--reuse');
    await place.run('cache', 'clear', '--yes');
    const resumed = await place.run('resume', runId, '--responses', 'other.json', '--output-format', 'json');
    expect(JSON.parse(resumed.stdout)).toMatchObject({ result: ['planned', 'planned'], census: { agents_cached: 2 } });
    const events = readFileSync(join(place.state, 'runs', runId, 'events.ndjson'), 'utf8');
    expect(events.match(/"source":"shared"/g)).toHaveLength(2);
  });

  it('a damaged entry is a miss, and verify says so (R-19)', async () => {
    await run('a.js', '--responses', 'r.json', '--reuse');
    for (const file of values()) writeFileSync(file, '"tampered"');
    expect(await run('a.js', '--responses', 'other.json', '--reuse')).toMatchObject({
      result: ['planned anew', 'planned anew'],
    });
    for (const file of values()) writeFileSync(file, '"tampered"');
    const verify = await place.run('cache', 'verify', '--json');
    expect(JSON.parse(verify.stdout)).toMatchObject({ kept: 0, damaged: 2 });
  });
});

describe('wf cache', () => {
  it('lists the shared results with size and age, and removes them when told (R-19, C-5)', async () => {
    const empty = await place.run('cache', 'ls');
    expect([empty.exit, empty.stdout]).toEqual([0, '']);
    expect(empty.stderr).toContain('--reuse');
    await run('a.js', '--responses', 'r.json', '--reuse');
    const lines = (await place.run('cache', 'ls')).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(/^v1:[0-9a-f]{12} +9 B +(just now|\d+ s ago) +scripted/);
    expect(JSON.parse((await place.run('cache', 'ls', '--json')).stdout)).toMatchObject([
      { key: expect.stringMatching(/^v1:[0-9a-f]{64}$/), backend: 'scripted', size: 9 },
      {},
    ]);
    expect((await place.run('cache', 'verify')).stdout).toMatch(/^good +2 results, 9 B$/m);
    const asked = await place.run('cache', 'clear');
    expect([asked.exit, asked.stderr]).toEqual([64, expect.stringContaining('--yes')]);
    const cleared = await place.run('cache', 'clear', '--yes', '--json');
    expect(JSON.parse(cleared.stdout)).toEqual({ removed: 2, bytes: 18 });
    expect(JSON.parse((await place.run('cache', 'ls', '--json')).stdout)).toEqual([]);
  });
});
