import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { createRunStore } from '../../cache/run-store.ts';
import type { RunStore } from '../../runtime/ports.ts';

/** A run store in a directory of its own, removed after the tests of the file. */
export function temporaryStore(): RunStore {
  const root = mkdtempSync(join(tmpdir(), 'wf-test-'));
  afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
  return createRunStore({ root });
}
