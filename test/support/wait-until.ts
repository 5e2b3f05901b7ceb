/** Lets the event loop go on until the condition holds; the test's own time limit ends a wait in vain. */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}
