import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePlace, type Place, script } from './wf-process.ts';

const RUN_ID = 'wf_dd551b62-a1d';
const SCRIPT = script("return [await agent('one'), await agent('two'), await agent('three ' + args.n)]");
const JOURNAL = [
  { type: 'started', key: 'v2:aa', agentId: 'a1' },
  { type: 'result', key: 'v2:aa', agentId: 'a1', result: 'recorded one' },
  { type: 'started', key: 'v2:bb', agentId: 'a2' },
  { type: 'started', key: 'v2:cc', agentId: 'a3' },
  { type: 'result', key: 'v2:cc', agentId: 'a3', result: 'recorded three' },
];

let place: Place;
let session: string;
let folder: string;
beforeEach(() => {
  place = makePlace();
  session = join(place.root, 'home/.claude/projects/-work/0a1b2c3d');
  folder = join(session, 'subagents/workflows', RUN_ID);
  put(join(folder, 'journal.jsonl'), JOURNAL.map((row) => JSON.stringify(row)).join('\n'));
  place.put('r.json', { default: [{ text: 'live' }] });
});
afterEach(() => place.remove());

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const options = ['--responses', 'r.json', '--output-format', 'json'];

describe('runs of Claude Code', () => {
  it('are refused by resume with one sentence that names the way, by id and by path (R-20)', async () => {
    for (const name of [RUN_ID, folder, join(folder, 'journal.jsonl')]) {
      const { exit, stdout, stderr } = await place.run('resume', name, ...options);
      expect([exit, JSON.parse(stdout).error.code]).toEqual([66, 'REPLAY_FOREIGN_RUN']);
      expect(stderr).toMatch(/^error: run wf_dd551b62-a1d was made by Claude Code.*--import.*\[REPLAY_FOREIGN_RUN\]$/m);
    }
    place.put('mine.js', script('return 1'));
    const { stderr } = await place.run('run', 'mine.js', '--resume', RUN_ID);
    expect(stderr).toContain('[REPLAY_FOREIGN_RUN]');
    expect(place.runIds()).toEqual([]);
  });

  it('resume --import starts a new run of their script and args with their answers (R-20)', async () => {
    put(
      join(session, 'workflows', `${RUN_ID}.json`),
      JSON.stringify({ runId: RUN_ID, script: SCRIPT, args: { n: 3 } }),
    );
    const { exit, stdout, stderr } = await place.run('resume', RUN_ID, '--import', ...options);
    expect(exit).toBe(0);
    const output = JSON.parse(stdout);
    expect(output).toMatchObject({
      result: ['recorded one', 'live', 'recorded three'],
      census: { agent_count: 3, agents_cached: 2 },
      logs: [{ level: 'info', text: '2 of 2 imported answers were used, by the order of the calls.' }],
    });
    expect(stderr).toContain('2 answers of 3 calls are imported from wf_dd551b62-a1d');
    expect(place.runIds()).toEqual([output.runId]);
    expect(output.runId).not.toBe(RUN_ID);
    const again = await place.run('resume', output.runId, ...options);
    expect(JSON.parse(again.stdout)).toMatchObject({ result: output.result, census: { agents_cached: 3 } });
  });

  it('resume --import finds the script that was saved at the start of an interrupted run (R-20)', async () => {
    put(join(session, 'workflows/scripts', `review-${RUN_ID}.js`), SCRIPT);
    const args = ['--args', '{"n":3}'];
    const { exit, stdout } = await place.run('resume', folder, '--import', ...args, ...options);
    expect([exit, JSON.parse(stdout).result]).toEqual([0, ['recorded one', 'live', 'recorded three']]);
  });

  it('without a script beside it resume --import says how to name one (R-20)', async () => {
    const { exit, stderr } = await place.run('resume', RUN_ID, '--import', ...options);
    expect([exit, stderr]).toEqual([64, expect.stringContaining('wf run <script> --import')]);
  });

  it('run --import takes their answers for a script of ours (R-20)', async () => {
    place.put('mine.js', script("return await pipeline(['x', 'y'], (item) => agent(item))"));
    const { exit, stdout } = await place.run('run', 'mine.js', '--import', folder, ...options);
    expect([exit, JSON.parse(stdout).result]).toEqual([0, ['recorded one', 'live']]);
  });

  it.each([
    [['run', 'mine.js', '--import', 'nowhere'], 66, 'FILE_MISSING'],
    [['run', 'mine.js', '--import', '.'], 64, 'USAGE_INVALID'],
    [['run', 'mine.js', '--import', '.', '--resume', RUN_ID], 64, 'USAGE_INVALID'],
    [['resume', '--last', '--import'], 64, 'USAGE_INVALID'],
    [['resume', 'wf_00000000-000'], 66, 'REPLAY_RUN_UNKNOWN'],
  ])('wf %j is refused with %i %s (R-20, C-7)', async (argv, code, name) => {
    place.put('mine.js', script('return 1'));
    const { exit, stderr } = await place.run(...argv);
    expect([exit, stderr]).toEqual([code, expect.stringContaining(`[${name}]`)]);
    expect(place.runIds()).toEqual([]);
  });
});
