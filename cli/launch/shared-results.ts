import type { WorkflowOptions } from '../../runtime/run-options.ts';

/** Opens what runs with `--reuse` share. The library of the store takes a while to load, so only they load it. */
export async function sharedResults(root: string): Promise<Pick<WorkflowOptions, 'sharedResults'>> {
  const { createSharedResults } = await import('../../cache/shared-results.ts');
  return { sharedResults: createSharedResults({ root }) };
}
