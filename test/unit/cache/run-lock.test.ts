import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Disk, nodeDisk } from '../../../cache/disk.ts';
import type { ProcessIdentity, ProcessTable } from '../../../cache/process-table.ts';
import { acquireRunLock, type LockOptions, readRunLock, STALE_MS } from '../../../cache/run-lock.ts';
import { errno } from '../../fault/faulty-disk.ts';
import { temporaryDirectories } from './temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();

/** Made-up processes, by pid; those in the set live. */
function processes(pid: number, alive: ReadonlySet<number>, host = 'here'): ProcessTable {
  return {
    self: { host, pid, startedAt: `boot:${pid}` },
    stateOf: (identity: ProcessIdentity) => {
      if (identity.host !== host) return 'unknown';
      return alive.has(identity.pid) ? 'alive' : 'dead';
    },
  };
}

let hex = 0;
function lockOptions(runPath: string, pid: number, alive: ReadonlySet<number>, over: Partial<LockOptions> = {}) {
  const randomHex = () => String(hex++);
  return { disk: nodeDisk, runPath, processes: processes(pid, alive), now: () => 1000, randomHex, ...over };
}

describe('acquireRunLock', () => {
  it('a second process is refused with host, pid and since when (R-14)', async () => {
    const runPath = join(temporaryDirectory());
    const alive = new Set([11, 12]);
    await acquireRunLock(lockOptions(runPath, 11, alive));
    await expect(acquireRunLock(lockOptions(runPath, 12, alive))).rejects.toMatchObject({
      code: 'REPLAY_RUN_LIVE',
      message: expect.stringMatching(/process 11 on here holds it since 1970-01-01T00:00:01.000Z/),
      data: { host: 'here', pid: 11, since: 1000 },
    });
    expect(readdirSync(runPath)).toEqual(['owner.1.json']);
  });

  it('the same process cannot take a run twice', async () => {
    const runPath = temporaryDirectory();
    const options = lockOptions(runPath, 11, new Set([11]));
    await acquireRunLock(options);
    await expect(acquireRunLock(options)).rejects.toMatchObject({ code: 'REPLAY_RUN_LIVE' });
  });

  it('a run that was given free, or whose owner died, is taken and its number goes on (R-14)', async () => {
    const runPath = temporaryDirectory();
    const alive = new Set([11, 12, 13]);
    const first = await acquireRunLock(lockOptions(runPath, 11, alive));
    await first.release();
    expect((await readRunLock(lockOptions(runPath, 12, alive)))?.live).toBe(false);
    const second = await acquireRunLock(lockOptions(runPath, 12, alive));
    alive.delete(12);
    const third = await acquireRunLock(lockOptions(runPath, 13, alive));
    expect([first, second, third].map(({ generation }) => generation)).toEqual([1, 2, 3]);
    expect(readdirSync(runPath)).toEqual(['owner.3.json']);
    expect(JSON.parse(readFileSync(join(runPath, 'owner.3.json'), 'utf8'))).toMatchObject({ pid: 13 });
  });

  it('of many that see the same dead owner one takes the run', async () => {
    const runPath = temporaryDirectory();
    const alive = new Set([11]);
    await acquireRunLock(lockOptions(runPath, 11, alive));
    alive.delete(11);
    const pids = Array.from({ length: 20 }, (_, i) => 100 + i);
    const everyone = new Set(pids);
    const tries = await Promise.allSettled(pids.map((pid) => acquireRunLock(lockOptions(runPath, pid, everyone))));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refusals = tries.filter((attempt) => attempt.status === 'rejected').map(({ reason }) => reason.code);
    expect(new Set(refusals)).toEqual(new Set(['REPLAY_RUN_LIVE']));
  });

  it('a process that was slow and made a lower number gives way to the higher one', async () => {
    const runPath = temporaryDirectory();
    const alive = new Set([11, 12, 13]);
    const dead = await acquireRunLock(lockOptions(runPath, 11, alive));
    alive.delete(11);
    let overtaken = false;
    const link: Disk['link'] = async (from, to) => {
      if (!overtaken) {
        overtaken = true;
        const quick = await acquireRunLock(lockOptions(runPath, 12, alive));
        await quick.release();
        await acquireRunLock(lockOptions(runPath, 12, alive));
      }
      await nodeDisk.link(from, to);
    };
    const slow = acquireRunLock(lockOptions(runPath, 13, alive, { disk: { ...nodeDisk, link } }));
    await expect(slow).rejects.toMatchObject({ code: 'REPLAY_RUN_LIVE', data: { pid: 12 } });
    expect(dead.generation).toBe(1);
    expect(readdirSync(runPath)).toEqual(['owner.3.json']);
  });

  it('an owner on another host lives as long as it is heard of, and is taken over after that (R-14)', async () => {
    const runPath = temporaryDirectory();
    const there = await acquireRunLock(
      lockOptions(runPath, 11, new Set(), { processes: processes(11, new Set(), 'there') }),
    );
    const at = (ms: number) => lockOptions(runPath, 12, new Set([12]), { now: () => ms });
    await expect(acquireRunLock(at(1000 + STALE_MS - 1))).rejects.toMatchObject({
      code: 'REPLAY_RUN_LIVE',
      message: expect.stringMatching(/on there .*free 30 s after its last heartbeat/),
    });
    utimesSync(there.path, 20, 20);
    await expect(acquireRunLock(at(19_999 + STALE_MS))).rejects.toMatchObject({ code: 'REPLAY_RUN_LIVE' });
    const taken = await acquireRunLock(at(20_000 + STALE_MS));
    expect(taken).toMatchObject({ generation: 2, owner: { pid: 12, unsettled: true } });
  });

  it('a live owner on this host needs no heartbeat, and a dead one gets no grace (R-14)', async () => {
    const runPath = temporaryDirectory();
    const alive = new Set([11, 12]);
    const first = await acquireRunLock(lockOptions(runPath, 11, alive));
    utimesSync(first.path, 1, 1);
    const later = lockOptions(runPath, 12, alive, { now: () => 1e9 });
    await expect(acquireRunLock(later)).rejects.toMatchObject({ code: 'REPLAY_RUN_LIVE' });
    alive.delete(11);
    const second = await acquireRunLock(lockOptions(runPath, 12, alive, { now: () => 1001 }));
    expect(second.owner.unsettled).toBeUndefined();
  });

  it('who takes a run over from a live owner says that the files are not settled yet (R-14)', async () => {
    const runPath = temporaryDirectory();
    const alive = new Set([11, 12, 13]);
    await acquireRunLock(lockOptions(runPath, 11, alive));
    const second = await acquireRunLock(lockOptions(runPath, 12, alive, { takeOver: true }));
    expect(second).toMatchObject({ generation: 2, owner: { pid: 12, unsettled: true } });
    expect(readdirSync(runPath)).toEqual(['owner.2.json']);
    await second.release();
    const third = await acquireRunLock(lockOptions(runPath, 13, alive));
    expect(third).toMatchObject({ generation: 3, owner: { pid: 13, unsettled: true } });
  });

  it('of many that take a run over from the same live owner one gets it (R-14)', async () => {
    const runPath = temporaryDirectory();
    const pids = Array.from({ length: 20 }, (_, i) => 100 + i);
    const alive = new Set([11, ...pids]);
    await acquireRunLock(lockOptions(runPath, 11, alive));
    const tries = await Promise.allSettled(
      pids.map((pid) => acquireRunLock(lockOptions(runPath, pid, alive, { takeOver: true }))),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('a run is given free on a full disk too, and its number stays', async () => {
    const runPath = temporaryDirectory();
    const alive = new Set([11, 12]);
    const rename: Disk['rename'] = async () => {
      throw errno('ENOSPC', 'no space left on device');
    };
    const first = await acquireRunLock(lockOptions(runPath, 11, alive, { disk: { ...nodeDisk, rename } }));
    await first.release();
    expect((await acquireRunLock(lockOptions(runPath, 12, alive))).generation).toBe(2);
  });

  it('on a file system without hard links the lock still has one owner', async () => {
    const runPath = temporaryDirectory();
    const link: Disk['link'] = async () => {
      throw errno('EPERM', 'operation not permitted');
    };
    const disk = { ...nodeDisk, link };
    const alive = new Set([11, 12]);
    await acquireRunLock(lockOptions(runPath, 11, alive, { disk }));
    await expect(acquireRunLock(lockOptions(runPath, 12, alive, { disk }))).rejects.toMatchObject({
      code: 'REPLAY_RUN_LIVE',
    });
    expect(readdirSync(runPath)).toEqual(['owner.1.json']);
  });

  it('an owner file without content is given some seconds, then taken over', async () => {
    const runPath = temporaryDirectory();
    const path = join(runPath, 'owner.4.json');
    writeFileSync(path, '');
    utimesSync(path, 100, 100);
    const at = (ms: number) => lockOptions(runPath, 11, new Set([11]), { now: () => ms });
    await expect(acquireRunLock(at(105_000))).rejects.toMatchObject({ code: 'REPLAY_RUN_LIVE' });
    expect((await acquireRunLock(at(111_000))).generation).toBe(5);
  });

  it('a full disk is told before the run is taken (C-9)', async () => {
    const runPath = temporaryDirectory();
    const open: Disk['open'] = async () => {
      throw errno('ENOSPC', 'no space left on device');
    };
    await expect(
      acquireRunLock(lockOptions(runPath, 11, new Set(), { disk: { ...nodeDisk, open } })),
    ).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' });
  });
});
