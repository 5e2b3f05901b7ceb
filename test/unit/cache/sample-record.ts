import type { RunRecord } from '../../../protocol/run-record.ts';

/** A record of a run that has just begun. */
export function sampleRecord(): Omit<RunRecord, 'runId'> {
  return {
    v: 1,
    name: 'review',
    description: 'reviews files',
    status: 'running',
    launch: 1,
    createdAt: 1_750_000_000_000,
    updatedAt: 1_750_000_000_000,
    cwd: '/project',
    scriptFileName: 'review.js',
    scriptSha256: 'ab',
    argsSha256: null,
    backend: 'scripted',
    simulated: false,
    options: { concurrency: 4 },
  };
}
