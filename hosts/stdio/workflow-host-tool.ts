import { z } from 'zod';
import type { BackgroundRun } from '../workflow-tool/background-run.ts';
import type { HostTool, HostToolResult } from './host-tool.ts';
import { type LaunchPermissionOptions, permitLaunch } from './launch-permission.ts';
import type { WorkflowLauncher } from './workflow-launcher.ts';

export function createWorkflowHostTool(launcher: WorkflowLauncher, permission: LaunchPermissionOptions): HostTool {
  return {
    name: 'Workflow',
    description: 'TEMP',
    inputSchema: {
      type: 'object',
      properties: {
        script: { type: 'string' },
        scriptPath: { type: 'string' },
        name: { type: 'string' },
        args: {},
        resumeFromRunId: { type: 'string' },
      },
    },
    async run(input, call) {
      const permit = await permitLaunch(input, call, permission);
      if (!permit.allow) return { text: permit.message, isError: true };
      const request = z
        .looseObject({
          script: z.string().optional(),
          scriptPath: z.string().optional(),
          name: z.string().optional(),
          args: z.unknown(),
          resumeFromRunId: z.string().optional(),
        })
        .parse(permit.updatedInput ?? input);
      return describeLaunch(await launcher.launch(request as never, call));
    },
  };
}

export function describeLaunch(run: BackgroundRun): HostToolResult {
  return {
    text: `Launched ${run.taskId} ${run.runId}`,
    isError: false,
    structured: { status: 'async_launched', taskId: run.taskId, runId: run.runId },
  };
}
