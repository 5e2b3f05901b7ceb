import { WorkflowError } from '../protocol/workflow-error.ts';

/** Why a run ends that somebody, or its own end, cuts off. */
export function cancelled(reason = 'it was stopped'): WorkflowError {
  return new WorkflowError('RUN_CANCELLED', `The run ended early: ${reason}. What its agents finished is kept.`);
}

/** Why a run ends that took too long. */
export function timedOut(timeoutMs: number): WorkflowError {
  return new WorkflowError(
    'LIMIT_TIME',
    `The run took longer than its limit of ${timeoutMs / 1000} s. Raise it with --timeout and resume; finished agents cost nothing again.`,
  );
}
