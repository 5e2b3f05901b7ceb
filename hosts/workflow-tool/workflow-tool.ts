import { preview } from '../../protocol/preview.ts';
import { isWorkflowError, toErrorRecord } from '../../protocol/workflow-error.ts';
import type { BackgroundRun } from './background-run.ts';
import type { BackgroundRuns } from './background-runs.ts';
import { TASK_STOP_DESCRIPTION, WORKFLOW_TOOL_DESCRIPTION } from './tool-description.ts';
import {
  readTaskStopInput,
  readWorkflowInput,
  TASK_STOP_INPUT_SCHEMA,
  type ToolInputSchema,
  WORKFLOW_INPUT_SCHEMA,
} from './tool-input.ts';

/** What a host knows of one tool call. */
export interface ToolCallContext {
  /** Id of the call in the conversation; the run's lines and its notification carry it. */
  readonly toolUseId?: string | undefined;
}

/** A tool call that did nothing. */
export interface ToolRefusal {
  readonly isError: true;
  /** A code of `ERROR_CODES`. */
  readonly code: string;
  /** For the model: what is wrong and what to do. */
  readonly text: string;
}

/** A run that goes on in the background. Source: spec H-2. */
export interface WorkflowLaunched {
  readonly isError: false;
  readonly status: 'async_launched';
  readonly taskId: string;
  readonly taskType: 'local_workflow';
  readonly workflowName: string;
  readonly runId: string;
  readonly summary: string;
  readonly transcriptDir: string;
  readonly scriptPath: string;
  /** For the model: the ids, and how the run is changed, stopped and gone on with. */
  readonly text: string;
}

/** The answer of the TaskStop tool. */
export interface TaskStopped {
  readonly isError: false;
  readonly taskId: string;
  readonly text: string;
}

/** A tool as an agent CLI registers it. `call` never rejects: what is wrong with a call is its answer. */
export interface ModelTool<Answer> {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ToolInputSchema;
  call(input: unknown, context?: ToolCallContext): Promise<Answer | ToolRefusal>;
}

/** Makes the tool with which a model launches workflows. `check` throws where none may be launched at the moment. */
export function workflowTool(runs: BackgroundRuns, check: () => void = () => {}): ModelTool<WorkflowLaunched> {
  return {
    name: 'Workflow',
    description: WORKFLOW_TOOL_DESCRIPTION,
    input_schema: WORKFLOW_INPUT_SCHEMA,
    call: (input, context = {}) =>
      answer(async () => {
        const request = readWorkflowInput(input);
        check();
        return launched(await runs.launch({ ...request, toolUseId: context.toolUseId }));
      }, 'Nothing was started.'),
  };
}

/** Makes the tool with which a model stops a workflow. */
export function taskStopTool(runs: BackgroundRuns): ModelTool<TaskStopped> {
  return {
    name: 'TaskStop',
    description: TASK_STOP_DESCRIPTION,
    input_schema: TASK_STOP_INPUT_SCHEMA,
    call: (input) =>
      answer(async () => {
        const id = readTaskStopInput(input);
        const before = runs.get(id)?.status;
        const run = runs.stop(id, 'it was stopped with TaskStop');
        const text =
          before === 'running'
            ? `Stopping the workflow ${nameOf(run)} (task ${run.taskId}). What its agents finished is kept; its notification follows.`
            : `The workflow ${nameOf(run)} (task ${run.taskId}) had ended already: it is ${before}.`;
        return { isError: false, taskId: run.taskId, text };
      }, ''),
  };
}

async function answer<T>(work: () => Promise<T>, consequence: string): Promise<T | ToolRefusal> {
  try {
    return await work();
  } catch (error) {
    if (!isWorkflowError(error)) throw error;
    const { code, message } = toErrorRecord(error);
    const text = `${message} [${code}]`;
    return { isError: true, code, text: consequence === '' ? text : `${consequence} ${text}` };
  }
}

function launched(run: BackgroundRun): WorkflowLaunched {
  const { taskId, workflowName, runId, summary, transcriptDir, scriptPath } = run;
  return {
    isError: false,
    status: 'async_launched',
    taskId,
    taskType: 'local_workflow',
    workflowName,
    runId,
    summary,
    transcriptDir,
    scriptPath,
    text: [
      `The workflow ${nameOf(run)} runs in the background: task ${taskId}, run ${runId}${run.launch > 1 ? ` (launch ${run.launch})` : ''}.`,
      `What it does: ${preview(summary)}`,
      `Script: ${scriptPath}`,
      `Transcripts of its agents: ${transcriptDir}`,
      'A <task-notification> with the result comes when it ends. Go on with other work or end your turn; do not wait for it.',
      `To change it: stop it (TaskStop) or let it end, edit the script, and call Workflow(${JSON.stringify({ scriptPath, resumeFromRunId: runId })}). Finished agents that are unchanged cost nothing again.`,
    ].join('\n'),
  };
}

function nameOf({ workflowName }: BackgroundRun): string {
  return JSON.stringify(preview(workflowName, 80));
}
