import { createBackgroundTasks } from '../../emitters/background-tasks.ts';
import type { EventSink } from '../../runtime/ports.ts';
import type { LaunchedTask } from '../workflow-tool/background-run.ts';
import { type RunStreamOptions, runStream } from '../workflow-tool/run-stream.ts';

/** Shows the runs of one session as lines of their tasks. */
export interface TaskFaces {
  sinksFor(task: LaunchedTask): readonly EventSink[];
  /** Resolves when the first line of the task was written. */
  shown(taskId: string): Promise<void>;
  /** The tool call that started the last launch of a run. */
  toolUseOf(runId: string): string | undefined;
}

export function createTaskFaces(options: Omit<RunStreamOptions, 'backgroundTasks'>): TaskFaces {
  const backgroundTasks = createBackgroundTasks();
  const toolUses = new Map<string, string>();
  const first = new Map<string, PromiseWithResolvers<void>>();
  const firstOf = (taskId: string): PromiseWithResolvers<void> => {
    const known = first.get(taskId) ?? Promise.withResolvers<void>();
    first.set(taskId, known);
    return known;
  };
  return {
    sinksFor(task) {
      if (task.toolUseId !== undefined) toolUses.set(task.runId, task.toolUseId);
      const write: RunStreamOptions['write'] = (line, critical, supersedes) => {
        options.write(line, critical, supersedes);
        firstOf(task.taskId).resolve();
      };
      return [runStream(task, { ...options, backgroundTasks, write })];
    },
    toolUseOf: (runId) => toolUses.get(runId),
    shown: (taskId) => firstOf(taskId).promise,
  };
}
