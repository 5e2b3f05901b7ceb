import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';

/** Gives a function that makes an empty directory for one test; all are removed after it. */
export function temporaryDirectories(): () => string {
  const made: string[] = [];
  afterEach(() => {
    for (const path of made.splice(0)) {
      rmSync(path, { recursive: true, force: true });
    }
  });
  return () => {
    const path = mkdtempSync(join(tmpdir(), 'wf-test-'));
    made.push(path);
    return path;
  };
}
