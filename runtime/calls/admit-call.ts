import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentBackend } from '../ports.ts';
import type { AgentCall } from './agent-ledger.ts';

/**
 * Looks at a call before it waits for a slot and before anything is spent.
 *
 * @throws WorkflowError of kind `agent`: what the backend refuses, and `AGENT_ISOLATION`, since an agent that asked for a
 *   worktree must not work in the directory it wanted to keep out of
 */
export function admitCall({ label, options }: AgentCall, backend: AgentBackend): void {
  if (options.agent.isolation !== undefined) {
    throw new WorkflowError(
      'AGENT_ISOLATION',
      `The agent "${label}" asks for a worktree of its own, and this version makes none. Leave isolation out if it may work in the run's directory.`,
    );
  }
  backend.admit?.(options.agent);
}
