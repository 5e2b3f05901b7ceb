import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { holdings, soak } from '../support/kill-soak.ts';

const RUNS = 10;
const AGENTS_A_RUN = 200;

describe('many runs in one process', () => {
  it('ten runs at once leave no descriptor, no timer and no memory behind (R-17)', { timeout: 120_000 }, async () => {
    // The collector cannot be asked for from a test without its flag; the flag can be set late for a new context.
    setFlagsFromString('--expose-gc');
    globalThis.gc ??= runInNewContext('gc') as typeof globalThis.gc;
    const root = mkdtempSync(join(tmpdir(), 'wf-soak-'));
    try {
      await soak({ root, runs: RUNS, agentsARun: AGENTS_A_RUN });
      const before = await holdings();
      await soak({ root, runs: RUNS, agentsARun: AGENTS_A_RUN });
      const after = await holdings();
      expect(after.descriptors).toBe(before.descriptors);
      expect(after.resources).toEqual(before.resources);
      // 2,000 agents: a kilobyte kept of each would show.
      expect(after.heapMb - before.heapMb).toBeLessThan(1.5);
    } finally {
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});
