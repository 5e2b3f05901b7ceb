import { readdir, readFile, readlink } from 'node:fs/promises';

/** A process that forks while it is looked for has a child that was not seen. */
const MOST_LOOKS = 20;

/**
 * Kills the processes that carry a mark: in their environment, or, where that was taken from them, in the name of what is
 * open as descriptor 8. By it those are found that left their process group, as `setsid` makes them do. Only Linux tells;
 * elsewhere nothing is done.
 *
 * @param mark value of the variable `name`, and part of the path of the temporary directory; not to be guessed
 */
export async function killMarkedProcesses(name: string, mark: string): Promise<void> {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const names = await readdir('/proc').catch(() => []);
    const pids = names.filter((each) => /^\d+$/.test(each)).map(Number);
    const isMarked = await Promise.all(pids.map((pid) => carriesMark(pid, name, mark)));
    const marked = pids.filter((_, index) => isMarked[index] === true);
    if (marked.length === 0) return;
    for (const pid of marked) kill(pid);
  }
}

async function carriesMark(pid: number, name: string, mark: string): Promise<boolean> {
  const [environment, open] = await Promise.all([
    readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
    readlink(`/proc/${pid}/fd/8`).catch(() => ''),
  ]);
  return environment.split('\0').includes(`${name}=${mark}`) || `${open} `.includes(`-${mark} `);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
