import { z } from 'zod';
import type { HostTool } from './host-tool.ts';
import type { TaskWatch } from './task-watch.ts';

const inputSchema = z.looseObject({ task_id: z.string().optional(), taskId: z.string().optional() });

/** The tool with which the model stops a workflow that it started. */
export function createTaskStopTool(watch: TaskWatch): HostTool {
  return {
    name: 'TaskStop',
    description:
      'Stops a workflow that runs in the background. What its agents have finished is kept, so it can be resumed with the ' +
      'run id later. A task that has ended already stays as it is.',
    inputSchema: {
      type: 'object',
      properties: { task_id: { type: 'string', description: 'The task id that Workflow gave.' } },
      required: ['task_id'],
      additionalProperties: false,
    },
    async run(raw) {
      const input = inputSchema.safeParse(raw).data;
      const taskId = input?.task_id ?? input?.taskId;
      if (taskId === undefined) {
        return { text: `TaskStop needs a task_id. ${watch.describeLive()}`, isError: true };
      }
      const run = watch.stop(taskId, 'model', 'The model stopped it');
      if (run === undefined) return { text: `There is no task ${taskId}. ${watch.describeLive()}`, isError: true };
      const { summary, output, outputFile } = await run.ended;
      return {
        text: `${summary}. What it did is in ${outputFile}.`,
        isError: false,
        structured: { task_id: run.taskId, run_id: run.runId, status: output.status },
      };
    },
  };
}
