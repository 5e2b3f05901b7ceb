/** Lets the event loop go on until the condition holds; the test's own time limit ends a wait in vain. */
export async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
