import { readdir, readFile } from 'node:fs/promises';

let running: Promise<ReadonlySet<number>> | undefined;
let next: Promise<ReadonlySet<number>> | undefined;

/**
 * Tells whether anything of a process group lives. The dead count as gone, although a container without a real init keeps
 * them as zombies for ever.
 */
export async function isGroupAlive(group: number): Promise<boolean> {
  if (!signalGroup(group, 0)) return false;
  return process.platform !== 'linux' || (await livingGroups()).has(group);
}

/** Sends a signal to a group; false when there is none. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    return false;
  }
}

/** Many ask at once when an agent ends: those that come during a look share the next one. */
function livingGroups(): Promise<ReadonlySet<number>> {
  if (running === undefined) {
    running = readGroups().finally(() => {
      running = undefined;
    });
    return running;
  }
  next ??= running.then(() => {
    next = undefined;
    return livingGroups();
  });
  return next;
}

async function readGroups(): Promise<ReadonlySet<number>> {
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(names.map((name) => readFile(`/proc/${name}/stat`, 'latin1').catch(() => '')));
  const groups = lines.map((line) => {
    // The name of a program may hold anything: what follows its last bracket is state, parent and group.
    const [state, , group] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? Number.NaN : Number(group);
  });
  return new Set(groups);
}
