import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemProcesses } from '../../../cache/process-table.ts';

const processes = systemProcesses();

describe('systemProcesses', () => {
  it('this process lives, with the host and a start time that tells it apart', () => {
    expect(processes.self.pid).toBe(process.pid);
    expect(processes.stateOf(processes.self)).toBe('alive');
    expect(processes.self.startedAt === undefined).toBe(!existsSync('/proc/self/stat'));
  });

  it('a pid that was given to another process is not the owner (R-14)', () => {
    expect(processes.stateOf({ ...processes.self, startedAt: 'another boot:1' })).toBe('dead');
  });

  it('a process of another host, or of another pid namespace of this one, cannot be judged from here (R-14)', () => {
    expect(processes.stateOf({ host: 'elsewhere.invalid', pid: 1, startedAt: 'x' })).toBe('unknown');
    expect(processes.stateOf({ ...processes.self, pidNamespace: 'pid:[1]' })).toBe('unknown');
  });

  it('a pid that lives but whose start is not known cannot be judged', () => {
    expect(processes.stateOf({ host: processes.self.host, pid: process.pid })).toBe('unknown');
  });

  it('a process that ended is dead', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    expect(processes.stateOf({ host: processes.self.host, pid: child.pid ?? 0 })).toBe('dead');
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
    expect(processes.stateOf({ host: processes.self.host, pid })).toBe('dead');
    parent.kill('SIGKILL');
    await once(parent, 'exit');
  });
});
