import type { BackgroundRuns } from '../workflow-tool/background-runs.ts';
import { taskStopTool } from '../workflow-tool/workflow-tool.ts';
import type { HostTool } from './host-tool.ts';
import type { TaskWatch } from './task-watch.ts';

/**
 * The tool with which the model stops a workflow. The notification is part of its answer, so that the end of the run needs no
 * turn of its own.
 */
export function createTaskStopTool(runs: BackgroundRuns, watch: TaskWatch): HostTool {
  const tool = taskStopTool({
    ...runs,
    stop(id, reason) {
      watch.stop(id, 'model', reason ?? 'The model stopped it');
      return runs.stop(id, reason);
    },
  });
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: { ...tool.input_schema },
    async run(input) {
      const { isError, text, ...rest } = await tool.call(input);
      if (isError || !('taskId' in rest)) return { text, isError: true };
      const ended = await runs.get(rest.taskId)?.ended;
      if (ended === undefined) return { text, isError: false };
      const { taskId, runId, status } = ended;
      return { text: `${text}\n\n${ended.notification}`, isError: false, structured: { taskId, runId, status } };
    },
  };
}
