import type { RunOutput } from '../../protocol/run-record.ts';

/** What is known of a launch before its first event. */
export interface LaunchedTask {
  /** One a launch: the run's id, with `.2`, `.3`… for a later launch of the run; a UUID in dialect `cbc`. */
  readonly taskId: string;
  readonly runId: string;
  /** Counts the starts of the run from 1; above 1 it is a resume. */
  readonly launch: number;
  readonly toolUseId: string | undefined;
  /** `meta.name`. */
  readonly workflowName: string;
  /** `meta.description`. */
  readonly summary: string;
  /** Absolute path of the folder with the agents' transcripts. */
  readonly transcriptDir: string;
  /** Absolute path of the script that an edit goes to (H-3): the kept copy, or the file that the request named. */
  readonly scriptPath: string;
  /** The script that runs, and the name that its positions have. */
  readonly scriptText: string;
  readonly scriptFileName: string;
  /** The request named the script by its path, which dialect `cbc` shows as the workflow's name. */
  readonly startedByPath: boolean;
}

/** A workflow that runs in the background, or has. */
export interface BackgroundRun extends LaunchedTask {
  /** At this moment. */
  readonly status: 'running' | 'completed' | 'failed' | 'stopped';
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Resolves once, at the end of any kind; never rejects. */
  readonly ended: Promise<EndedRun>;
  /** Stops the run; without effect when it has ended. */
  stop(reason?: string): void;
}

/** How a run in the background ended. */
export interface EndedRun {
  readonly taskId: string;
  readonly runId: string;
  readonly toolUseId: string | undefined;
  readonly status: 'completed' | 'failed' | 'stopped';
  /** As in `output.json`, without the result. */
  readonly output: Omit<RunOutput, 'result'>;
  /** Exact JSON text of the result; undefined when there is none. */
  readonly resultJson: string | undefined;
  /** Absolute path of the file with the full result. */
  readonly outputFile: string;
  /** One line that says how it ended. */
  readonly summary: string;
  /** The `<task-notification>` for the model (E-16). */
  readonly notification: string;
}
