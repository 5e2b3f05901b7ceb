import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRunStore, createScriptedBackend, startWorkflow } from 'wf-runtime';

/** Milliseconds from `stop()` to the end of a run whose script spins. */
async function measure(body: string): Promise<number> {
  const root = mkdtempSync(join(tmpdir(), 'wf-bench-'));
  try {
    const run = await startWorkflow({
      script: `export const meta = { name: 'spin', description: 'spins' }\n${body}\nfor (;;) {}`,
      store: createRunStore({ root }),
      backend: createScriptedBackend({ default: [{ text: 'ok' }] }),
    });
    await new Promise((resolve) => setTimeout(resolve, 700));
    const from = performance.now();
    run.stop();
    const { output } = await run.done;
    if (output.status !== 'killed') throw new Error(`expected killed, got ${output.status}`);
    return performance.now() - from;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

console.log(JSON.stringify({ beforeMs: await measure(''), afterMs: await measure("await agent('first')") }));
