import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Disk, nodeDisk } from '../../../cache/disk.ts';
import type { ProcessTable } from '../../../cache/process-table.ts';
import { HEARTBEAT_MS } from '../../../cache/run-lease.ts';
import { readRunLock } from '../../../cache/run-lock.ts';
import { createRunStore } from '../../../cache/run-store.ts';
import type { RunDirectory } from '../../../runtime/ports.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { sampleRecord } from './sample-record.ts';
import { launchedRow, resultHead, startedRow } from './sample-rows.ts';
import { temporaryDirectories } from './temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();
const INIT = { record: sampleRecord(), scriptText: 'return 1\n', argsJson: undefined };

/** A process that everybody on its host sees alive. */
function living(pid: number): ProcessTable {
  return { self: { host: 'here', pid, startedAt: `boot:${pid}` }, stateOf: () => 'alive' };
}

function storeOf(root: string, pid: number, clock: FakeClock, disk: Disk = nodeDisk) {
  return createRunStore({ root, clock, disk, processes: living(pid) });
}

/** Rows of the journal as the file has them under its name now. */
function rowsOf(run: RunDirectory): { type: string; key?: string }[] {
  const text = readFileSync(join(run.path, 'journal.jsonl'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function startedRun(root: string, clock: FakeClock): Promise<RunDirectory> {
  const run = await storeOf(root, 1, clock).create(INIT);
  run.journal.append(launchedRow({ runId: run.runId }));
  run.journal.appendResult(resultHead(1), '"one"');
  run.events.append('log', { level: 'info', text: 'first' });
  await Promise.all([run.journal.durable(), run.events.flush()]);
  return run;
}

describe('the lease of a run', () => {
  it('is renewed every few seconds, for those who cannot see the process, until the run is closed (R-14)', async () => {
    const root = temporaryDirectory();
    const clock = new FakeClock();
    const run = await storeOf(root, 1, clock).create(INIT);
    const path = join(run.path, 'owner.1.json');
    for (let beat = 0; beat <= 3; beat += 1) {
      await waitUntil(() => statSync(path).mtimeMs === clock.now() && clock.pending === 1);
      await clock.advance(HEARTBEAT_MS);
    }
    await run.close();
    expect(clock.pending).toBe(0);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: 1, released: clock.now() });
  });

  it('a run that is open does not keep its process alive (R-14)', async () => {
    const unrefs: number[] = [];
    const clock = {
      now: () => 1000,
      after: (ms: number) => ({ cancel: () => {}, unref: () => void unrefs.push(ms) }),
    };
    const run = await createRunStore({ root: temporaryDirectory(), clock }).create(INIT);
    expect(unrefs).toEqual([HEARTBEAT_MS]);
    await run.close();
  });

  it('a fenced process appends nothing that anybody reads, and its results are promised to nobody (R-14)', async () => {
    const root = temporaryDirectory();
    const clock = new FakeClock();
    const old = await startedRun(root, clock);
    const fresh = await storeOf(root, 2, clock).open(old.runId, { takeOver: true });
    expect(fresh.history.rows.map(({ row }) => row.type)).toEqual(['launched', 'result']);
    fresh.journal.append(launchedRow({ launch: 2 }));
    await fresh.journal.durable();

    old.journal.append(startedRow(2));
    old.journal.appendResult(resultHead(2), '"two"');
    old.events.append('log', { level: 'info', text: 'late' });
    await expect(old.journal.durable()).rejects.toMatchObject({
      code: 'REPLAY_LEASE_LOST',
      message: expect.stringMatching(/taken over by process 2 on here/),
      data: { pid: 2, host: 'here' },
    });
    expect(old.leaseLost?.aborted).toBe(true);
    await expect(old.saveRecord({ ...old.record, status: 'failed' })).rejects.toMatchObject({
      code: 'REPLAY_LEASE_LOST',
    });
    old.agentFiles.appendTranscript('a0000000000000001', { type: 'note' });
    await old.close().catch(() => {});

    expect(rowsOf(fresh).map(({ type }) => type)).toEqual(['launched', 'result', 'launched']);
    expect(readFileSync(join(fresh.path, 'events.ndjson'), 'utf8')).not.toContain('late');
    expect(existsSync(join(fresh.path, 'agents'))).toBe(false);
    expect(JSON.parse(readFileSync(join(fresh.path, 'run.json'), 'utf8')).status).toBe('running');
    expect(readdirSync(fresh.path).filter((name) => /^owner|tmp$/.test(name))).toEqual(['owner.2.json']);
    await fresh.close();
  });

  it('a fenced process that writes nothing finds out at its next heartbeat (R-14)', async () => {
    const root = temporaryDirectory();
    const clock = new FakeClock();
    const old = await startedRun(root, clock);
    const fresh = await storeOf(root, 2, new FakeClock()).open(old.runId, { takeOver: true });
    expect(old.leaseLost?.aborted).toBe(false);
    void clock.advance(HEARTBEAT_MS);
    await waitUntil(() => old.leaseLost?.aborted === true);
    expect(old.leaseLost?.reason).toMatchObject({ code: 'REPLAY_LEASE_LOST' });
    await old.close();
    await fresh.close();
  });

  it('a process that is stopped after it opened the journal for the first time writes nothing there (R-14)', async () => {
    const root = temporaryDirectory();
    const clock = new FakeClock();
    const created = await startedRun(root, clock);
    await created.close();
    const { runId } = created;
    let fresh: RunDirectory | undefined;
    const takenAtOpen: Disk = {
      ...nodeDisk,
      open: async (path, flags, mode) => {
        // The run is taken over just before the name is looked up: the worst moment there is.
        if (String(path).endsWith('journal.jsonl') && flags === 'a' && fresh === undefined) {
          fresh = await storeOf(root, 2, clock).open(runId, { takeOver: true });
        }
        return nodeDisk.open(path, flags, mode);
      },
    };
    const old = await storeOf(root, 1, clock, takenAtOpen).open(runId);
    old.journal.append(launchedRow({ launch: 2 }));
    old.journal.appendResult(resultHead(7), '"seven"');
    await expect(old.journal.durable()).rejects.toMatchObject({ code: 'REPLAY_LEASE_LOST' });
    await old.close().catch(() => {});
    expect(rowsOf(old).map(({ type }) => type)).toEqual(['launched', 'result']);
    await fresh?.close();
  });

  it('what a fenced process was promised is in the journal that the next owner reads, whenever that comes (R-5, R-14)', async () => {
    for (let stage = 0; stage < 6; stage += 1) {
      const root = temporaryDirectory();
      const clock = new FakeClock();
      let calls = 0;
      let taken: Promise<RunDirectory> | undefined;
      let runId = '';
      const disk: Disk = {
        ...nodeDisk,
        stat: async (...args: Parameters<Disk['stat']>) => {
          calls += 1;
          if (runId !== '' && calls === stage) taken = storeOf(root, 2, clock).open(runId, { takeOver: true });
          if (taken !== undefined && stage % 2 === 0) await taken;
          return nodeDisk.stat(...args);
        },
      } as Disk;
      const old = await storeOf(root, 1, clock, disk).create(INIT);
      runId = old.runId;
      calls = 0;
      const promised: string[] = [];
      for (const n of [1, 2, 3]) {
        old.journal.appendResult(resultHead(n), `"${n}"`);
        await old.journal.durable().then(
          () => promised.push(`"${n}"`),
          () => {},
        );
      }
      const fresh = await (taken ?? storeOf(root, 2, clock).open(runId, { takeOver: true }));
      const stored = fresh.history.rows.map(({ resultJson }) => resultJson);
      expect(stored, `taken at look ${stage}`).toEqual(expect.arrayContaining(promised));
      await old.close().catch(() => {});
      await fresh.close();
    }
  });

  it('an owner that died before it had shut out the one before it leaves that to the next (R-14)', async () => {
    const root = temporaryDirectory();
    const clock = new FakeClock();
    const first = await startedRun(root, clock);
    const dying: Disk = {
      ...nodeDisk,
      rename: async () => {
        throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
      },
    };
    await expect(storeOf(root, 2, clock, dying).open(first.runId, { takeOver: true })).rejects.toMatchObject({
      code: 'STATE_UNWRITABLE',
    });
    const third = await storeOf(root, 3, clock).open(first.runId);
    first.journal.appendResult(resultHead(9), '"nine"');
    await expect(first.journal.durable()).rejects.toMatchObject({ code: 'REPLAY_LEASE_LOST' });
    expect(rowsOf(third).map(({ type }) => type)).toEqual(['launched', 'result']);
    const lock = await readRunLock({ disk: nodeDisk, runPath: third.path, processes: living(3), now: () => 0 });
    expect(lock?.owner).toMatchObject({ pid: 3 });
    expect(lock?.owner?.unsettled).toBeUndefined();
    await first.close().catch(() => {});
    await third.close();
  });

  it('what died in the middle of a replacement is swept away by the next owner', async () => {
    const root = temporaryDirectory();
    const clock = new FakeClock();
    const run = await startedRun(root, clock);
    await run.close();
    writeFileSync(join(run.path, 'run.json.123-4.tmp'), '{"half":');
    const again = await storeOf(root, 2, clock).open(run.runId);
    expect(readdirSync(run.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    await again.close();
  });
});
