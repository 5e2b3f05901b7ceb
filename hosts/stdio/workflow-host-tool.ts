import { z } from 'zod';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { BackgroundRun } from '../workflow-tool/background-run.ts';
import type { LaunchRequest } from '../workflow-tool/launch-request.ts';
import type { HostTool, HostToolResult } from './host-tool.ts';
import { type LaunchPermissionOptions, permitLaunch } from './launch-permission.ts';
import type { WorkflowLauncher } from './workflow-launcher.ts';

const inputSchema = z.strictObject({
  script: z.string().max(524_288).optional(),
  scriptPath: z.string().optional(),
  name: z.string().optional(),
  args: z.unknown().optional(),
  resumeFromRunId: z
    .string()
    .regex(/^wf_[a-z0-9-]{6,}$/)
    .optional(),
  title: z.string().optional(),
  description: z.string().optional(),
});

/** The tool with which the model of the main conversation starts workflows. */
export function createWorkflowHostTool(launcher: WorkflowLauncher, permission: LaunchPermissionOptions): HostTool {
  const { $schema: _, ...wireSchema } = z.toJSONSchema(inputSchema);
  return {
    name: 'Workflow',
    description: 'Starts a workflow script in the background and returns at once.',
    inputSchema: wireSchema,
    async run(input, call) {
      const permit = await permitLaunch(input, call, permission);
      if (!permit.allow) return { text: permit.message, isError: true };
      return describeLaunch(await launcher.launch(readInput(permit.updatedInput ?? input), call));
    },
  };
}

function readInput(input: unknown): LaunchRequest {
  const parsed = inputSchema.safeParse(input);
  if (!parsed.success) throw new WorkflowError('USAGE_INVALID', `Workflow: ${z.prettifyError(parsed.error)}`);
  const { title: _title, description: _description, ...request } = parsed.data;
  return request;
}

/** What the caller reads about a run that was started. Source: H-2. */
export function describeLaunch(run: BackgroundRun): HostToolResult {
  const { taskId, workflowName, runId, summary, transcriptDir, scriptPath } = run;
  return {
    text:
      `The workflow "${workflowName}" was started in the background: task ${taskId}, run ${runId}. ` +
      `You will be told when it ends; do not wait for it. Its script is ${scriptPath}: to change it and go on, edit that ` +
      `file and call Workflow with scriptPath and resumeFromRunId ${JSON.stringify(runId)}.`,
    isError: false,
    structured: {
      status: 'async_launched',
      taskId,
      taskType: 'local_workflow',
      workflowName,
      runId,
      summary,
      transcriptDir,
      scriptPath,
    },
  };
}
