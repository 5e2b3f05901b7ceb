import { readdir, readFile } from 'node:fs/promises';

/**
 * Kills the processes that carry a mark in their environment: those that left their process group, as `setsid` makes them
 * do. Only Linux tells; elsewhere nothing is done.
 *
 * @param mark `NAME=value`, not to be guessed
 */
export async function killMarkedProcesses(mark: string): Promise<void> {
  const names = await readdir('/proc').catch(() => []);
  await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (pid) => {
        const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
        if (environment.split('\0').includes(mark)) kill(Number(pid));
      }),
  );
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
