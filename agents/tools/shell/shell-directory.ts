import { mkdir, readdir, realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { GroupGuardian } from '../../process/group-guardian.ts';
import { wallClock } from '../../wall-clock.ts';

const NAME = /^wf-shell-(\d+)-[0-9a-f]+$/;
/** Another container may share the directory, whose processes look dead from here. */
const SURELY_LEFT_MS = 24 * 60 * 60_000;

/**
 * Makes the directory below which the commands of this process have their temporary ones; its name holds the token by which
 * they are known. Takes away what processes left that were killed together with their guardian.
 */
export async function makeShellDirectory(
  temporaryRoot: string,
  guardian: Pick<GroupGuardian, 'token' | 'watchPath'>,
): Promise<string> {
  const root = await realpath(temporaryRoot);
  const directory = path.join(root, `wf-shell-${process.pid}-${guardian.token}`);
  guardian.watchPath(directory);
  await mkdir(directory, { mode: 0o700 });
  await sweep(root);
  return directory;
}

async function sweep(root: string): Promise<void> {
  for (const name of await readdir(root).catch(() => [])) {
    const pid = Number(NAME.exec(name)?.[1] ?? process.pid);
    if (isAlive(pid)) continue;
    const directory = path.join(root, name);
    const facts = await stat(directory).catch(() => undefined);
    if (facts === undefined || facts.uid !== process.getuid?.()) continue;
    if (wallClock.now() - facts.mtimeMs > SURELY_LEFT_MS)
      await rm(directory, { recursive: true, force: true }).catch(() => {});
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
