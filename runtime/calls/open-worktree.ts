import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentRequest, Worktree, Worktrees } from '../ports.ts';

/**
 * Makes the working copy that an agent asked for.
 *
 * @throws WorkflowError `AGENT_ISOLATION`, also where none can be made at all: an agent that asked for one must not work in
 *   the directory that it wanted to keep out of
 */
export async function openWorktree(
  { run, key, cwd, label }: AgentRequest,
  worktrees: Worktrees | undefined,
  warn: (text: string) => void,
): Promise<Worktree> {
  if (worktrees === undefined || run === undefined) {
    throw new WorkflowError(
      'AGENT_ISOLATION',
      `The agent "${label}" asks for a worktree of its own, and none can be made here. Give the run the option "worktrees", or leave isolation out if the agent may work in the run's directory.`,
    );
  }
  return worktrees.open({ runId: run.runId, key, cwd, warn });
}
