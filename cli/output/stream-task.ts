import { lineUuid } from '../../emitters/stream-json/line-uuid.ts';
import type { StreamJsonOptions } from '../../emitters/stream-json.ts';
import type { CoreEventData } from '../../protocol/core-event.ts';
import type { Dialect } from '../flags/run-flags.ts';

/** What a stream shows beside the events. */
export interface StreamChoices {
  readonly dialect: Dialect;
  /** Undefined leaves it to the dialect: `claude` has the script, `cbc` never (E-8). */
  readonly includeSource?: boolean | undefined;
  readonly scriptText?: string | undefined;
  readonly scriptFileName?: string | undefined;
  /** The script was named by its path, not by its saved name. */
  readonly startedByPath: boolean;
}

/** Derives the ids of a launch's stream from the run, so that `wf logs` prints what the live reader saw (E-2). */
export function streamTask(started: CoreEventData<'run.started'>, choices: StreamChoices): StreamJsonOptions {
  const { runId, launch } = started;
  const { dialect, includeSource = true, scriptText, scriptFileName, startedByPath } = choices;
  return {
    dialect,
    taskId: dialect === 'claude' ? runId : lineUuid(`task ${runId}`, launch, 0),
    sessionId: lineUuid(`session ${runId}`, launch, 0),
    includeSource,
    scriptText,
    scriptFileName,
    startedByPath,
  };
}
