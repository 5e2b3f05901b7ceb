import { open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { kill, pid } from 'node:process';
import { wallClock } from '../wall-clock.ts';

const LOCK_FILE = 'wf-worktrees.lock';
const POLL_MS = 20;
/** Longer than a large checkout should take. */
const STALE_MS = 120_000;

/**
 * Lets one process at a time make trees of a repository. Git has locks of its own, which decide; this one only keeps
 * processes from running into them all the time. So a lock whose owner is dead, or that is very old, is simply taken away.
 */
export async function withCreationLock<T>(commonDirectory: string, work: () => Promise<T>): Promise<T> {
  const path = join(commonDirectory, LOCK_FILE);
  while (!(await take(path))) {
    if (await isStale(path)) await rm(path, { force: true });
    else await new Promise((resolve) => setTimeout(resolve, POLL_MS * (0.5 + Math.random())));
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(`${pid}\n`);
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    const owner = Number.parseInt(text, 10);
    return wallClock.now() - mtimeMs > STALE_MS || (owner > 0 && !isAlive(owner));
  } catch {
    return false; // it was given back just now
  }
}

function isAlive(owner: number): boolean {
  try {
    kill(owner, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
