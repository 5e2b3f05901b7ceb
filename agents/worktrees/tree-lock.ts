import { open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { kill, pid } from 'node:process';
import { wallClock } from '../wall-clock.ts';
import type { Git } from './git.ts';

const LOCK_FILE = 'wf-worktrees.lock';
const POLL_MS = 20;
/** Longer than a large checkout should take. */
const STALE_MS = 120_000;
/** Longer than a process takes to write its name into the file that it made. */
const UNNAMED_MS = 2_000;

/**
 * Lets one process at a time make and remove trees of a repository. Git has locks of its own, which decide; this one keeps
 * processes from running into them all the time, and a later launch from looking at trees that a git of a killed one still
 * works on. So its file names the owner and, through {@link underLock}, each git that works for it; once all of them are
 * dead, or it is very old, it is simply taken away.
 *
 * @param work gets the path of the lock
 */
export async function withTreeLock<T>(commonDirectory: string, work: (lock: string) => Promise<T>): Promise<T> {
  const path = join(commonDirectory, LOCK_FILE);
  while (!(await take(path))) {
    if (await isStale(path)) await rm(path, { force: true });
    else await new Promise((resolve) => setTimeout(resolve, POLL_MS * (0.5 + Math.random())));
  }
  try {
    return await work(path);
  } finally {
    await rm(path, { force: true });
  }
}

/** Makes git put itself into a lock before it begins; where the lock's owner died before it could, git does not begin. */
export function underLock(git: Git, lock: string): Git {
  const enter = 'echo $$ >>"$1" && kill -0 "$2" && shift 2 && exec "$@"';
  return git.through('/bin/sh', '-c', enter, 'sh', lock, `${pid}`);
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
    const ageMs = wallClock.now() - mtimeMs;
    if (text === '' || ageMs > STALE_MS) return ageMs > (text === '' ? UNNAMED_MS : STALE_MS);
    const users = text.split('\n').filter((line) => line !== '');
    // A git that the owner started just before its death is in the file by now.
    const alive = await Promise.all(users.map((user) => isAlive(Number(user))));
    return !alive.includes(true) && (await readFile(path, 'utf8')) === text;
  } catch {
    return false; // it was given back just now
  }
}

/** The dead count as gone although a container without a real init keeps them as zombies. */
async function isAlive(process: number): Promise<boolean> {
  try {
    kill(process, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const facts = await readFile(`/proc/${process}/stat`, 'latin1').catch(() => '');
  return !/\) [ZX] /.test(facts);
}
