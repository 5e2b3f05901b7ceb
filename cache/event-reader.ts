import type { CoreEvent } from '../protocol/core-event.ts';
import { type Disk, nodeDisk } from './disk.ts';
import { readLines } from './read-lines.ts';

/**
 * Calls `take` for each event of a stored log, in order (E-2). Lines that were not written whole are skipped; types that
 * this version does not know are passed on.
 *
 * @throws errors of the file system, ENOENT among them.
 */
export async function readEvents(path: string, take: (event: CoreEvent) => void, disk: Disk = nodeDisk): Promise<void> {
  const file = await disk.open(path, 'r');
  try {
    await readLines(file, (line) => {
      const event = parse(line.buffer.toString('utf8', line.start, line.end));
      if (event !== undefined) {
        take(event);
      }
    });
  } finally {
    await file.close();
  }
}

function parse(line: string): CoreEvent | undefined {
  try {
    const event = JSON.parse(line) as CoreEvent | null;
    return typeof event?.seq === 'number' && typeof event.type === 'string' ? event : undefined;
  } catch {
    return undefined;
  }
}
