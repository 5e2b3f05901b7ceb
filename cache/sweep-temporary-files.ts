import { join } from 'node:path';
import type { Disk } from './disk.ts';

/**
 * Removes what processes that died in the middle of a replacement left in a run directory. Only its owner may do so. A rival
 * that loses its file to this tries again, and a fenced owner fails to put an old record in place of a new one.
 */
export async function sweepTemporaryFiles(disk: Disk, runPath: string): Promise<void> {
  const names = await disk.readdir(runPath).catch(() => []);
  for (const name of names) {
    if (name.endsWith('.tmp')) await disk.unlink(join(runPath, name)).catch(() => undefined);
  }
}
