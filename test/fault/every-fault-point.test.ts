import pLimit from 'p-limit';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../cache/disk.ts';
import { FAULT_CALLS, FaultWorld } from '../support/fault-run.ts';
import { readEvidence, serialOf } from '../support/kill-evidence.ts';
import { temporaryDirectories } from '../unit/cache/temporary-directory.ts';
import { FaultSwitch, type Passage } from './fault-points.ts';
import { StruckDisk } from './struck-disk.ts';

const temporaryDirectory = temporaryDirectories();
/** Each test strikes a hundred runs, with a dozen syncs of a real disk each. */
const TIMEOUT_MS = 120_000;
/** Worlds at once: they wait for the disk most of the time. */
const AT_ONCE = 8;

/** What the files of the run hold now; nothing when it has no record yet. */
function evidence(world: FaultWorld) {
  return world.runId === undefined ? { stored: [], faults: [] } : readEvidence(world.runPath);
}

/** Resumes the run to its end with nothing in the way, and judges what was kept. */
async function expectNothingLost(world: FaultWorld, point: string): Promise<void> {
  const before = evidence(world).stored;
  const serials = before.map(({ serial }) => serial);
  for (const answer of world.seen)
    expect(serials, `${point}: the script saw ${answer}`).toContain(serialOf(`${answer}`));
  const sentBefore = world.sent.length;
  const result = await world.end(world.launch(nodeDisk));
  expect(result, `${point}: the run can be resumed`).toBeDefined();
  expect(result?.error, point).toBeUndefined();
  const after = evidence(world);
  expect(after.faults, point).toEqual([]);
  expect(after.stored.slice(0, before.length), `${point}: rows that were stored`).toEqual(before);
  expect(new Set(after.stored.map(({ key }) => key)).size, `${point}: keys`).toBe(after.stored.length);
  expect(after.stored, point).toHaveLength(FAULT_CALLS);
  expect(world.sent.length - sentBefore, `${point}: requests of the resume`).toBe(FAULT_CALLS - before.length);
  const { judges } = JSON.parse(result?.resultJson ?? '{}') as { judges: string[] };
  expect(new Set(judges).size, `${point}: each judge's own answer`).toBe(2);
}

interface Strike {
  readonly world: FaultWorld;
  readonly disk: StruckDisk;
  /** Where it was struck, for messages. */
  readonly point: string;
  /** The points passed, the last one included. */
  readonly passed: readonly Passage[];
}

interface Situation {
  /** What there is before the launch that is struck. */
  readonly prepare?: (world: FaultWorld) => Promise<void>;
  readonly takeOver?: boolean;
}

async function launchUnder(faults: FaultSwitch, world: FaultWorld, takeOver = false): Promise<StruckDisk> {
  const disk = new StruckDisk(faults);
  await world.end(world.launch(disk.disk, faults, takeOver));
  return disk;
}

/** Strikes one launch after another at each of the points that a launch passes when it is let alone. */
async function strikeEverywhere(
  { prepare, takeOver = false }: Situation,
  judge: (strike: Strike) => Promise<void>,
): Promise<readonly string[]> {
  const world = new FaultWorld(temporaryDirectory());
  await prepare?.(world);
  const quiet = new FaultSwitch();
  await launchUnder(quiet, world, takeOver);
  const limit = pLimit(AT_ONCE);
  let struckPoints = 0;
  const strikeAt = async (passage: Passage): Promise<void> => {
    const struck = new FaultWorld(temporaryDirectory());
    await prepare?.(struck);
    const faults = new FaultSwitch(passage);
    const disk = await launchUnder(faults, struck, takeOver);
    struckPoints += faults.struck ? 1 : 0;
    const point = `${passage.point} (${passage.count})`;
    await judge({ world: struck, disk, point, passed: faults.passed });
  };
  await Promise.all(quiet.passed.map((passage) => limit(() => strikeAt(passage))));
  // How rows fall into batches is a matter of timing, so a late passage may not come in each run.
  expect(struckPoints).toBeGreaterThan(quiet.passed.length * 0.9);
  return quiet.passed.map(({ point }) => point);
}

/** A run that was struck in the middle of a write: results are stored, and the last row is torn. */
async function tornRun(world: FaultWorld): Promise<void> {
  const faults = new FaultSwitch({ point: 'half write journal.jsonl', count: 3 });
  await launchUnder(faults, world);
  expect(faults.struck).toBe(true);
}

describe('a process struck down at any fault point', () => {
  it('killed at any point of a run, nothing finished is lost or runs again (R-5, R-7)', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const points = await strikeEverywhere({}, ({ world, point }) => expectNothingLost(world, point));
    const kinds = new Set(points.map((point) => point.split(' ').slice(0, 2).join(' ')));
    for (const operation of ['write', 'datasync', 'sync', 'rename', 'link', 'send']) {
      expect(kinds).toContain(`before ${operation}`);
      expect(kinds).toContain(`after ${operation}`);
    }
    expect(points).toContain('half write journal.jsonl');
    console.log(`${points.length} fault points of a run`);
  });

  it('without power at any point of a run, nothing that the script had seen is lost (R-5)', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await strikeEverywhere({}, async ({ world, disk, point }) => {
      disk.losePower();
      await expectNothingLost(world, point);
    });
  });

  it('killed at any point of a resume that mends a torn journal, the run resumes all the same (R-6, R-7)', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const points = await strikeEverywhere({ prepare: tornRun }, ({ world, point }) => expectNothingLost(world, point));
    expect(points).toContain('after truncate journal.jsonl');
    console.log(`${points.length} fault points of a resume`);
  });

  it('killed at any point of a take-over, the old owner still writes nothing that anybody reads (R-7, R-14)', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const hung = new Map<FaultWorld, { goOn: () => void; end: Promise<string> }>();
    const hang = async (world: FaultWorld): Promise<void> => {
      const answered = Promise.withResolvers<void>();
      const handle = await world.launch(nodeDisk, undefined, false, answered.promise);
      while (world.sent.length < 2) await new Promise((resolve) => setImmediate(resolve));
      const end = handle.done.then(
        () => 'completed',
        (error) => error.code as string,
      );
      hung.set(world, { goOn: answered.resolve, end });
    };
    const points = await strikeEverywhere({ prepare: hang, takeOver: true }, async ({ world, point, passed }) => {
      const old = hung.get(world);
      const taken = passed.some((passage) => passage.point === 'after link owner.2.json');
      if (taken) await expectNothingLost(world, point);
      const rows = evidence(world).stored;
      old?.goOn();
      expect(await old?.end, point).toBe(taken ? 'REPLAY_LEASE_LOST' : 'completed');
      if (taken) expect(evidence(world).stored, point).toEqual(rows);
    });
    for (const { goOn, end } of hung.values()) {
      goOn();
      await end;
    }
    console.log(`${points.length} fault points of a take-over`);
  });
});
