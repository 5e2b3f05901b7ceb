import type { BackgroundRun, EndedRun } from '../workflow-tool/background-run.ts';
import type { BackgroundRuns } from '../workflow-tool/background-runs.ts';

/** Why a run ends early, which decides who is told. */
export type StoppedBy = 'client' | 'model';

export interface TaskWatchOptions {
  readonly runs: BackgroundRuns;
  /** A run that nobody here stopped has ended: the conversation is to hear of it in a turn of its own. */
  readonly onEnded: (ended: EndedRun) => void;
  /** A run has ended because the client or the model stopped it. */
  readonly onStopped: (ended: EndedRun, by: StoppedBy) => void;
  /** The last of the runs has ended and was reported. */
  readonly onIdle: () => void;
}

/** Knows the runs of a session that have not ended, and reports each end once. */
export class TaskWatch {
  readonly #options: TaskWatchOptions;
  readonly #live = new Map<string, { readonly run: BackgroundRun; stoppedBy: StoppedBy | undefined }>();

  constructor(options: TaskWatchOptions) {
    this.#options = options;
  }

  /** Resolves when every run that is being stopped has ended. */
  async stopped(): Promise<void> {
    const stopping = [...this.#live.values()].filter(({ stoppedBy }) => stoppedBy !== undefined);
    await Promise.all(stopping.map(({ run }) => run.ended));
  }

  get isIdle(): boolean {
    return this.#live.size === 0;
  }

  /** Watches a run from its launch to its end. */
  add(run: BackgroundRun): void {
    const { onEnded, onStopped, onIdle } = this.#options;
    const task: { readonly run: BackgroundRun; stoppedBy: StoppedBy | undefined } = { run, stoppedBy: undefined };
    this.#live.set(run.taskId, task);
    void run.ended.then((ended) => {
      this.#live.delete(run.taskId);
      // A run may come to its own end while it is being stopped: then its result counts.
      if (task.stoppedBy === undefined || ended.output.status !== 'killed') onEnded(ended);
      else onStopped(ended, task.stoppedBy);
      if (this.isIdle) onIdle();
    });
  }

  /** Whether this session ever had a task of that id. */
  knows(id: string): boolean {
    return this.#options.runs.get(id) !== undefined;
  }

  stopAll(by: StoppedBy, reason: string): void {
    for (const taskId of [...this.#live.keys()]) this.stop(taskId, by, reason);
  }

  /**
   * Stops a run by its task or run id. Idempotent.
   *
   * @returns the run, ended or not; undefined when this session never had it
   */
  stop(id: string, by: StoppedBy, reason: string): BackgroundRun | undefined {
    const run = this.#options.runs.get(id);
    if (run === undefined) return undefined;
    const task = this.#live.get(run.taskId);
    if (task === undefined) return run;
    task.stoppedBy ??= by;
    void this.#options.runs.stop(run.taskId, reason);
    return run;
  }

  /** Tasks that have not ended, for a person. */
  describeLive(): string {
    const live = [...this.#live.values()].map(({ run }) => `${run.taskId} (${run.workflowName})`);
    return live.length === 0 ? 'No task is running.' : `Running: ${live.join(', ')}.`;
  }
}
