import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** Directories that hold no work of the project's own. */
const SKIPPED_DIRECTORIES: ReadonlySet<string> = new Set(['.git', 'node_modules']);

export interface FoundFile {
  readonly absolute: string;
  /** Seen from the directory that was walked, with forward slashes. */
  readonly relative: string;
}

/**
 * Yields the regular files below a directory in the order of their names, each directory's files before its
 * subdirectories. Links are not followed and `.git` and `node_modules` are left out; unreadable directories count as empty.
 */
export async function* walkFiles(root: string, signal: AbortSignal): AsyncGenerator<FoundFile> {
  const pending = [''];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    signal.throwIfAborted();
    const entries = await readdir(path.join(root, directory), { withFileTypes: true }).catch(() => []);
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    const below: string[] = [];
    for (const entry of entries) {
      const relative = directory === '' ? entry.name : `${directory}/${entry.name}`;
      if (entry.isFile()) yield { absolute: path.join(root, relative), relative };
      else if (entry.isDirectory() && !SKIPPED_DIRECTORIES.has(entry.name)) below.push(relative);
    }
    pending.push(...below.reverse());
  }
}
