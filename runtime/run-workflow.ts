import { resumeWorkflow } from './resume-workflow.ts';
import type { ResumeOptions, RunResult, StartOptions } from './run-options.ts';
import { startWorkflow } from './start-workflow.ts';

/** A finished run with its result as a value. */
export interface WorkflowResult extends RunResult {
  /** What the script returned; undefined when it returned nothing or did not complete. */
  readonly result: unknown;
}

/**
 * Runs a workflow script to its end.
 *
 * Resolves also when the run failed or was killed: look at `output.status` and `error`.
 *
 * @throws WorkflowError `SCRIPT_…`, `USAGE_INVALID`, `STATE_UNWRITABLE`, `REPLAY_…` before anything is paid
 */
export async function runWorkflow(options: StartOptions | ResumeOptions): Promise<WorkflowResult> {
  const run = await ('runId' in options ? resumeWorkflow(options) : startWorkflow(options));
  const ended = await run.done;
  return { ...ended, result: ended.resultJson === undefined ? undefined : JSON.parse(ended.resultJson) };
}
