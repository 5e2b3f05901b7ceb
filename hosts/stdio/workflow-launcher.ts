import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { BackgroundRun } from '../workflow-tool/background-run.ts';
import type { BackgroundRuns } from '../workflow-tool/background-runs.ts';
import type { LaunchRequest } from '../workflow-tool/launch-request.ts';
import type { HostToolCall } from './host-tool.ts';

export interface WorkflowLauncherOptions {
  readonly runs: BackgroundRuns;
  /** Told of each run before anything of it is shown. */
  readonly onLaunched: (run: BackgroundRun) => void;
  /** Stops a run whose turn was interrupted while it was started. */
  readonly onUnwanted: (run: BackgroundRun) => void;
  /** Resolves when the first line of a task was written. */
  readonly shown: (taskId: string) => Promise<void>;
  /** No launch is under way any more. */
  readonly onSettled: () => void;
}

/** Starts workflows for the turns of a session. */
export interface WorkflowLauncher {
  /**
   * Starts one, and resolves once its `task_started` is written. A turn that is interrupted meanwhile leaves no run behind.
   *
   * @throws WorkflowError when nothing was started
   */
  launch(request: LaunchRequest, call: HostToolCall): Promise<BackgroundRun>;
  /** True when no launch is under way that has no run yet. */
  readonly isIdle: boolean;
}

export function createWorkflowLauncher(options: WorkflowLauncherOptions): WorkflowLauncher {
  const { runs, onLaunched, onUnwanted, shown, onSettled } = options;
  let pending = 0;
  return {
    async launch(request, { toolUseId, turn }) {
      const budget = turn.takeBudget();
      if (budget === 0) throw budgetError(turn.budget ?? 0);
      pending += 1;
      try {
        const run = await runs.launch({ ...request, toolUseId, ...(budget === undefined ? {} : { budget }) });
        onLaunched(run);
        if (turn.signal.aborted) onUnwanted(run);
        await Promise.race([shown(run.taskId), run.ended]);
        return run;
      } catch (error) {
        turn.returnBudget(budget ?? 0);
        throw error;
      } finally {
        pending -= 1;
        onSettled();
      }
    },
    get isIdle() {
      return pending === 0;
    },
  };
}

function budgetError(total: number): WorkflowError {
  return new WorkflowError(
    'LIMIT_BUDGET',
    `The budget of this turn, ${total.toLocaleString('en-US')} output tokens, is used up or given to the workflow before. ` +
      'Start the workflow in a turn of its own, or with a larger budget.',
  );
}
