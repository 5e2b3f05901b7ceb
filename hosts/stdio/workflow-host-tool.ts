import type { BackgroundRun } from '../workflow-tool/background-run.ts';
import type { BackgroundRuns } from '../workflow-tool/background-runs.ts';
import { workflowTool } from '../workflow-tool/workflow-tool.ts';
import type { HostTool, HostToolCall, HostToolResult } from './host-tool.ts';
import { type LaunchPermissionOptions, permitLaunch } from './launch-permission.ts';
import type { WorkflowLauncher } from './workflow-launcher.ts';

/** Calls the tool `Workflow` for a turn. `run` is absent when nothing was started. */
export type CallWorkflow = (
  input: unknown,
  call: HostToolCall,
) => Promise<HostToolResult & { readonly run?: BackgroundRun | undefined }>;

/** Binds the tool that every host has to the launches of this one, which belong to turns. */
export function createCallWorkflow(runs: BackgroundRuns, launcher: WorkflowLauncher): CallWorkflow {
  return async (input, call) => {
    let run: BackgroundRun | undefined;
    const launch = async (request: Parameters<BackgroundRuns['launch']>[0]): Promise<BackgroundRun> => {
      run = await launcher.launch(request, call);
      return run;
    };
    const { toolUseId } = call;
    const { isError, text, ...structured } = await workflowTool({ ...runs, launch }).call(input, { toolUseId });
    return isError ? { text, isError } : { text, isError, structured, run };
  };
}

/** The tool with which the model of the main conversation starts workflows. */
export function createWorkflowHostTool(
  callWorkflow: CallWorkflow,
  permission: LaunchPermissionOptions,
  runs: BackgroundRuns,
): HostTool {
  const { name, description, input_schema: inputSchema } = workflowTool(runs);
  return {
    name,
    description,
    inputSchema: { ...inputSchema },
    async run(input, call) {
      const permit = await permitLaunch(input, call, permission);
      return permit.allow ? callWorkflow(permit.updatedInput ?? input, call) : { text: permit.message, isError: true };
    },
  };
}
