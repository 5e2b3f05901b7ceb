import { createBackgroundTasks } from '../../emitters/background-tasks.ts';
import { createStreamJsonEmitter } from '../../emitters/stream-json.ts';
import type { StreamJsonDialect } from '../../protocol/stream-json.ts';
import type { Clock, EventSink } from '../../runtime/ports.ts';
import type { LaunchedTask } from '../workflow-tool/background-run.ts';

export interface TaskFacesOptions {
  readonly dialect: StreamJsonDialect;
  readonly sessionId: string;
  /** Puts the script into `task_started`, where the dialect has it there. */
  readonly includeSource: boolean;
  readonly clock: Clock;
  write(line: string, critical: boolean, supersedes: boolean): void;
}

/** Shows the runs of one session as lines of their tasks. */
export interface TaskFaces {
  sinksFor(task: LaunchedTask): readonly EventSink[];
  /** Resolves when the first line of the task was written. */
  shown(taskId: string): Promise<void>;
}

export function createTaskFaces({ dialect, sessionId, includeSource, clock, write }: TaskFacesOptions): TaskFaces {
  const backgroundTasks = createBackgroundTasks();
  const first = new Map<string, PromiseWithResolvers<void>>();
  const firstOf = (taskId: string): PromiseWithResolvers<void> => {
    const known = first.get(taskId) ?? Promise.withResolvers<void>();
    first.set(taskId, known);
    return known;
  };
  return {
    sinksFor: (task) => [
      createStreamJsonEmitter({
        dialect,
        sessionId,
        includeSource,
        backgroundTasks,
        clock,
        taskId: task.taskId,
        toolUseId: task.toolUseId,
        scriptText: task.scriptText,
        scriptFileName: task.scriptFileName,
        startedByPath: task.startedByPath,
        write(line, critical, supersedes) {
          write(line, critical, supersedes);
          firstOf(task.taskId).resolve();
        },
      }),
    ],
    shown: (taskId) => firstOf(taskId).promise,
  };
}
