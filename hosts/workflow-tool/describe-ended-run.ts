import { join } from 'node:path';
import { describeEnd } from '../../emitters/describe-end.ts';
import { type RecoveryCall, renderTaskNotification } from '../../emitters/task-notification.ts';
import { NO_AGENTS, NO_USAGE } from '../../protocol/nothing-used.ts';
import type { RunOutput } from '../../protocol/run-record.ts';
import { toErrorRecord } from '../../protocol/workflow-error.ts';
import type { RunResult } from '../../runtime/run-options.ts';
import type { EndedRun, LaunchedTask } from './background-run.ts';

/** Gives the call that goes on with a run, in the form of the tool that started it. */
export function recoveryCall(toolName: string, { runId, scriptPath }: LaunchedTask): RecoveryCall {
  return { tool: toolName, input: { resumeFromRunId: runId, scriptPath } };
}

/** Puts together what a host and a model are told of the end. `notices` are said besides, for example that the script was edited. */
export function describeEndedRun(
  task: LaunchedTask,
  result: Pick<RunResult, 'output' | 'resultJson' | 'outputFile'>,
  options: { readonly toolName: string; readonly notices: readonly string[] },
): EndedRun {
  const { output, resultJson, outputFile } = result;
  const summary = describeEnd(task.workflowName, output, output.simulated === true);
  return {
    taskId: task.taskId,
    runId: task.runId,
    toolUseId: task.toolUseId,
    status: output.status === 'killed' ? 'stopped' : output.status,
    output,
    resultJson,
    outputFile,
    summary,
    notification: renderTaskNotification({
      taskId: task.taskId,
      toolUseId: task.toolUseId,
      outputFile,
      summary,
      output,
      resultJson,
      diagnostics: options.notices,
      ...(hasWorkLeft(output) ? { recovery: recoveryCall(options.toolName, task) } : {}),
    }),
  };
}

/** The end of a run whose state can no longer be written: what is on the disk is kept, and no more is known. */
export function lostRun(
  task: LaunchedTask,
  runPath: string,
  error: unknown,
): Pick<RunResult, 'output' | 'resultJson' | 'outputFile'> {
  const output: Omit<RunOutput, 'result'> = {
    status: 'failed',
    runId: task.runId,
    error: toErrorRecord(error),
    usage: NO_USAGE,
    census: NO_AGENTS,
    failures: [],
    logs: [],
    limits_hit: [],
  };
  return { output, resultJson: undefined, outputFile: join(runPath, 'output.json') };
}

/** A run that completed with every agent has nothing to resume. */
function hasWorkLeft({ status, census, limits_hit }: Omit<RunOutput, 'result'>): boolean {
  return status !== 'completed' || census.agents_error > 0 || census.agents_cancelled > 0 || limits_hit.length > 0;
}
