import type { BackgroundTasks } from '../../emitters/background-tasks.ts';
import { createStreamJsonEmitter } from '../../emitters/stream-json.ts';
import type { EventSink } from '../../runtime/ports.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import type { LaunchedTask } from './background-run.ts';

export interface RunStreamOptions {
  readonly dialect: 'claude' | 'cbc';
  readonly sessionId: string;
  /** Shows the script in `task_started`; dialect `cbc` never does (E-8). */
  readonly includeSource: boolean;
  /** Of the session, shared by its runs. */
  readonly backgroundTasks: BackgroundTasks;
  /** Takes a line without its line feed; see `StreamJsonEmitterOptions.write`. */
  readonly write: (line: string, critical: boolean, supersedes: boolean) => void;
}

/** Makes the reader that turns the events of one launch into its stream-json lines. */
export function runStream(task: LaunchedTask, options: RunStreamOptions): EventSink {
  return createStreamJsonEmitter({
    ...options,
    taskId: task.taskId,
    toolUseId: task.toolUseId,
    scriptText: task.scriptText,
    scriptFileName: task.scriptFileName,
    startedByPath: task.startedByPath,
    clock: systemClock,
  });
}
