import type { CliContext } from '../cli-context.ts';
import { readStoredRun, type StoredRun } from '../state/stored-run.ts';

/**
 * Reads a run that is to be resumed.
 *
 * @throws what {@link readStoredRun} throws, and REPLAY_FOREIGN_RUN where the run is one that Claude Code made
 */
export async function readResumableRun(context: CliContext, root: string, given: string): Promise<StoredRun> {
  try {
    return await readStoredRun(root, given);
  } catch (error) {
    const { findClaudeRun, foreignRunError } = await import('../state/claude-run.ts');
    const run = await findClaudeRun(given, root, context);
    throw run === undefined ? error : foreignRunError(run, given);
  }
}
