import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../cache/disk.ts';
import { systemProcesses } from '../../cache/process-table.ts';
import { listRuns } from '../../cache/run-listing.ts';
import { readRunLock } from '../../cache/run-lock.ts';
import { runState } from '../../cache/run-state.ts';
import { createRunStore } from '../../cache/run-store.ts';
import { sampleRecord } from '../unit/cache/sample-record.ts';
import { temporaryDirectories } from '../unit/cache/temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();
const WRITER = new URL('./run-writer.ts', import.meta.url).pathname;

interface Writer {
  readonly process: ChildProcess;
  /** Lines it prints: the run id, then the number of each result that it knows to be durable. */
  readonly said: string[];
  /** Resolves once it has said so many lines. */
  saidAtLeast(lines: number): Promise<void>;
  kill(): Promise<void>;
}

function startWriter(root: string, runId = ''): Writer {
  const child = spawn(process.execPath, [WRITER, root, runId], { stdio: ['ignore', 'pipe', 'inherit'] });
  const said: string[] = [];
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => said.push(line));
  return {
    process: child,
    said,
    async saidAtLeast(count) {
      while (said.length < count) {
        await Promise.race([once(lines, 'line'), ended.then(() => Promise.reject(new Error(`ended: ${said}`)))]);
      }
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

describe('a process killed while it writes', () => {
  it('no result that it knew to be durable is lost or doubled, however often it is killed (R-7)', async () => {
    const root = temporaryDirectory();
    let runId = '';
    const promised = new Set<string>();
    for (let round = 1; round <= 4; round += 1) {
      const writer = startWriter(root, runId);
      await writer.saidAtLeast(20 + 7 * round);
      await writer.kill();
      runId = writer.said[0] ?? '';
      for (const line of writer.said.slice(1)) {
        promised.add(line);
      }
    }
    const run = await createRunStore({ root }).open(runId);
    const stored = run.history.rows.flatMap(({ row, resultJson }) => (row.type === 'result' ? [resultJson] : []));
    expect(stored.length).toBeGreaterThanOrEqual(promised.size);
    expect(new Set(stored).size).toBe(stored.length);
    for (const value of promised) {
      expect(stored).toContain(value);
    }
    expect(stored.map(Number)).toEqual(stored.map((_, n) => n));
    expect(run.history.rows.filter(({ row }) => row.type === 'launched')).toHaveLength(4);
    await run.close();
  });

  it('a run is live while its process lives, and interrupted and free at once when it was killed (R-14)', async () => {
    const root = temporaryDirectory();
    const store = createRunStore({ root });
    const writer = startWriter(root);
    await writer.saidAtLeast(2);
    const runId = writer.said[0] ?? '';
    const stateNow = async () => {
      const [record] = await listRuns(root);
      const path = `${root}/runs/${runId}`;
      const lockOptions = { disk: nodeDisk, runPath: path, processes: systemProcesses(), now: () => Date.now() };
      return record && runState(record, await readRunLock(lockOptions));
    };
    expect(await stateNow()).toBe('running');
    await expect(store.open(runId)).rejects.toMatchObject({
      code: 'REPLAY_RUN_LIVE',
      data: { pid: writer.process.pid },
    });
    await writer.kill();
    expect(await stateNow()).toBe('interrupted');
    const run = await store.open(runId);
    expect(await stateNow()).toBe('running');
    await run.close();
  });

  it('of several processes that take over a killed run one gets it (R-14)', async () => {
    const root = temporaryDirectory();
    const run = await createRunStore({ root }).create({
      record: sampleRecord(),
      scriptText: 'return 1\n',
      argsJson: undefined,
    });
    await run.close();
    const first = startWriter(root, run.runId);
    await first.saidAtLeast(2);
    await first.kill();
    const rivals = Array.from({ length: 4 }, () => startWriter(root, run.runId));
    const ends = await Promise.allSettled(rivals.map(async (rival) => rival.saidAtLeast(2)));
    expect(rivals.map(({ said }) => said[0]).sort()).toEqual(
      ['REPLAY_RUN_LIVE', 'REPLAY_RUN_LIVE', 'REPLAY_RUN_LIVE', run.runId].sort(),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await Promise.all(rivals.filter(({ process }) => process.exitCode === null).map((rival) => rival.kill()));
  });
});
