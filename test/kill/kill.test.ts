import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRunStore } from '../../cache/run-store.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import { startKillApi } from '../support/kill-api.ts';
import { contest } from '../support/kill-contest.ts';
import { readEvidence } from '../support/kill-evidence.ts';
import { type BuiltWf, copyBuiltWf, startWf } from '../support/kill-process.ts';
import { totalsOf, troublesOf } from '../support/kill-totals.ts';
import { killTrial } from '../support/kill-trial.ts';
import { waitUntil } from '../support/wait-until.ts';

const RUNS = 24;
const AT_ONCE = 3;
const CONTESTS = 6;
/** Some fifty processes in turn; the bound is for a machine that has other things to do. */
const TIMEOUT_MS = 240_000;

let wf: BuiltWf;
beforeAll(() => {
  wf = copyBuiltWf();
});
afterAll(() => wf.remove());

describe('real processes and a real SIGKILL', () => {
  it('runs of 60 agents, killed at random moments, lose nothing and repeat nothing (R-7, R-22)', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const firstSeed = Date.now() % 1_000_000_000;
    console.log(`seeds ${firstSeed} to ${firstSeed + RUNS - 1}; test/kill/kill-runs.ts runs one again`);
    const limit = pLimit(AT_ONCE);
    const seeds = Array.from({ length: RUNS }, (_, index) => firstSeed + index);
    const trials = await Promise.all(seeds.map((seed) => limit(() => killTrial(wf.program, seed))));
    expect(trials.flatMap(troublesOf)).toEqual([]);
    const { killed } = totalsOf(trials);
    expect(Object.values(killed).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(RUNS / 2);
    expect(Object.keys(killed).length).toBeGreaterThanOrEqual(3);
  });

  it('of two processes that resume one run at the same moment one wins, and the other leaves no trace (R-14)', {
    timeout: TIMEOUT_MS,
  }, async () => {
    for (let round = 0; round < CONTESTS; round += 1) {
      expect(await contest(wf.program)).toEqual({ exits: [0, 75], troubles: [] });
    }
  });

  it('a process that is stopped, taken over and woken again stores nothing more and ends with 75 (R-14)', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const place = mkdtempSync(join(tmpdir(), 'wf-fenced-'));
    const state = join(place, 'state');
    const body = "await agent('quick')\nreturn await parallel([1, 2, 3].map((i) => () => agent('slow ' + i)))\n";
    writeFileSync(join(place, 's.js'), `export const meta = { name: 'fenced', description: 'is taken over' }\n${body}`);
    let latencyMs = 0;
    const api = await startKillApi({ latencyMs: () => latencyMs, answerLength: 0 });
    try {
      let asked = 0;
      const apiUrl = api.beginLaunch((count) => {
        asked = count;
        latencyMs = 300;
      });
      const argv = ['run', 's.js', '--backend', 'anthropic', '--state-dir', state, '--output-format', 'json'];
      const old = startWf({ program: wf.program, argv, cwd: place, apiUrl });
      await waitUntil(() => asked === 4);
      process.kill(old.child.pid as number, 'SIGSTOP');
      const [runId = ''] = readdirSync(join(state, 'runs'));
      const handle = await resumeWorkflow({
        runId,
        takeOver: true,
        store: createRunStore({ root: state }),
        backend: {
          name: 'instant',
          defaultConcurrency: 4,
          canRejoin: false,
          simulated: false,
          model: undefined,
          run: async ({ prompt }) => ({
            valueJson: JSON.stringify(`again ${prompt}`),
            empty: false,
            usage: { inputTokens: 1, outputTokens: 1 },
            toolUses: 0,
            attempts: 0,
          }),
          close: async () => {},
        },
      });
      const { resultJson } = await handle.done;
      expect(JSON.parse(resultJson ?? 'null')).toEqual(['again slow 1', 'again slow 2', 'again slow 3']);
      const before = readEvidence(handle.directory);
      expect(before).toMatchObject({ launches: 2, faults: [], tornTail: false });
      process.kill(old.child.pid as number, 'SIGCONT');
      const { exit, stdout } = await old.ended;
      expect([exit, JSON.parse(stdout)]).toMatchObject([75, { error: { code: 'REPLAY_LEASE_LOST' } }]);
      expect(readEvidence(handle.directory)).toEqual(before);
    } finally {
      await api.close();
      rmSync(place, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});
