import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemProcesses } from '../../../cache/process-table.ts';

const processes = systemProcesses();

describe('systemProcesses', () => {
  it('this process lives, with the host and a start time that tells it apart', () => {
    expect(processes.self.pid).toBe(process.pid);
    expect(processes.isAlive(processes.self)).toBe(true);
    expect(processes.self.startedAt === undefined).toBe(!existsSync('/proc/self/stat'));
  });

  it('a pid that was given to another process is not the owner (R-14)', () => {
    expect(processes.isAlive({ ...processes.self, startedAt: 'another boot:1' })).toBe(false);
  });

  it('a process of another host counts as alive', () => {
    expect(processes.isAlive({ host: 'elsewhere.invalid', pid: 1, startedAt: 'x' })).toBe(true);
  });

  it('a process that ended is dead', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    expect(processes.isAlive({ host: processes.self.host, pid: child.pid ?? 0 })).toBe(false);
  });

  it('a zombie is dead (R-14)', async () => {
    // The shell starts a child and then becomes a process that never collects it.
    const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(chunk.toString());
    const state = () => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0];
    while (state() !== 'Z') {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    expect(processes.isAlive({ host: processes.self.host, pid })).toBe(false);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
  });
});
