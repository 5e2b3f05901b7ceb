import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEvents } from '../../cache/event-reader.ts';
import { startKillApi } from './kill-api.ts';
import { readEvidence } from './kill-evidence.ts';
import { type RunningWf, startWf, type WfEnd } from './kill-process.ts';

/** What came of two processes that resume one killed run at the same moment. */
export interface Contest {
  /** Exit codes, sorted. */
  readonly exits: readonly (number | string | null)[];
  /** What was not as it should be. */
  readonly troubles: readonly string[];
}

/** Two calls that finish before the kill, and ten that come after it and take their time. */
const SCRIPT = `export const meta = { name: 'contest', description: 'is resumed twice at once' }
const first = [await agent('first'), await agent('second')]
await parallel(Array.from({ length: 10 }, (_, i) => () => agent('late ' + i)))
return first
`;
const DONE_BEFORE = 2;
const LATE = 10;

/** Starts a run, kills it, and lets two processes resume it at once: one wins, the other ends with 75 and leaves no trace. */
export async function contest(program: string): Promise<Contest> {
  const place = mkdtempSync(join(tmpdir(), 'wf-contest-'));
  writeFileSync(join(place, 'contest.js'), SCRIPT);
  let latencyMs = 0;
  const api = await startKillApi({ latencyMs: () => latencyMs, answerLength: 0 });
  const state = join(place, 'state');
  const how = ['--backend', 'anthropic', '--state-dir', state, '--output-format', 'json', '--quiet'];
  const start = (apiUrl: string, ...what: string[]): RunningWf =>
    startWf({ program, argv: [...what, ...how], cwd: place, apiUrl });
  try {
    const firstUrl = api.beginLaunch((count) => {
      if (count > DONE_BEFORE) first.kill('group');
    });
    const first = start(firstUrl, 'run', 'contest.js');
    await first.ended;
    const [runId = ''] = readdirSync(join(state, 'runs'));
    const before = readEvidence(join(state, 'runs', runId));
    latencyMs = 1500;
    const url = api.beginLaunch(() => {});
    const ends = await Promise.all([start(url, 'resume', runId).ended, start(url, 'resume', runId).ended]);
    const asked = api.asked.filter(({ launch }) => launch === 2).length;
    return await judge(ends, join(state, 'runs', runId), before.launches, asked);
  } finally {
    await api.close();
    rmSync(place, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function judge(ends: readonly WfEnd[], runPath: string, launchesBefore: number, asked: number): Promise<Contest> {
  const exits = ends.map(({ exit }) => exit).sort();
  const troubles: string[] = [];
  const expect = (holds: boolean, text: string): void => void (holds || troubles.push(text));
  expect(exits.join() === '0,75', `exits ${exits}: ${ends.map(({ stderr }) => stderr.slice(0, 300)).join(' / ')}`);
  const loser = ends.find(({ exit }) => exit === 75);
  expect(loser === undefined || /REPLAY_RUN_LIVE/.test(loser.stdout), `the loser said ${loser?.stdout.slice(0, 300)}`);
  const after = readEvidence(runPath);
  expect(after.launches === launchesBefore + 1, `${after.launches - launchesBefore} launches were written`);
  expect(after.stored.length === DONE_BEFORE + LATE, `${after.stored.length} results are stored`);
  expect(after.faults.length === 0, after.faults.join());
  expect(asked === LATE, `${asked} requests were sent for ${LATE} calls`);
  let starts = 0;
  await readEvents(join(runPath, 'events.ndjson'), (event) => {
    if (event.type === 'run.started') starts += 1;
  });
  expect(starts === 2, `${starts} starts are in the event log`);
  const owners = readdirSync(runPath).filter((name) => name.startsWith('owner.'));
  expect(owners.join() === 'owner.2.json', `owner files: ${owners}`);
  const { released } = JSON.parse(readFileSync(join(runPath, 'owner.2.json'), 'utf8')) as { released?: number };
  expect(released !== undefined, 'the winner did not give the run free');
  return { exits, troubles };
}
