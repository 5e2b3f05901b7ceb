/** The last of those that wait for each file, by its real path. */
const lastInLine = new Map<string, Promise<void>>();

/**
 * Does work on a file while no other call of this process does, in the order of the calls: two edits of one file that a
 * model asks for at once must both be in it.
 */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const before = lastInLine.get(file);
  const { promise, resolve } = Promise.withResolvers<void>();
  lastInLine.set(file, promise);
  try {
    await before;
    return await work();
  } finally {
    resolve();
    if (lastInLine.get(file) === promise) lastInLine.delete(file);
  }
}
