import { createRunSummary, type RunSummary } from '../../protocol/run-summary.ts';
import type { EventSink } from '../../runtime/ports.ts';

/** How far a run is. */
export interface ProgressNow {
  readonly agents: {
    readonly total: number;
    readonly done: number;
    readonly failed: number;
    readonly skipped: number;
    readonly cached: number;
    readonly inFlight: number;
  };
  readonly tokens: number;
  /** The phase that was begun last. */
  readonly phase: string | null;
}

/** Keeps how far each run of this server is, from its events, and tells who waits. */
export class RunProgress {
  readonly #summaries = new Map<string, RunSummary>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #phases = new Map<string, string>();

  /** A reader of the events of a launch. */
  sinkOf(taskId: string): EventSink {
    const summary = createRunSummary({ keepAgents: false });
    this.#summaries.set(taskId, summary);
    return {
      handle: (event) => {
        summary.apply(event);
        if (event.type === 'phase.started') this.#phases.set(taskId, event.data.title);
        for (const listener of this.#listeners.get(taskId) ?? []) listener();
      },
    };
  }

  now(taskId: string): ProgressNow | undefined {
    const summary = this.#summaries.get(taskId);
    if (summary === undefined) return undefined;
    const census = summary.census();
    return {
      agents: {
        total: census.agent_count,
        done: census.agents_done,
        failed: census.agents_error,
        skipped: census.agents_skipped,
        cached: census.agents_cached,
        inFlight: summary.inFlight,
      },
      tokens: summary.usage().total_tokens,
      phase: this.#phases.get(taskId) ?? null,
    };
  }

  /** Calls back with each event of a launch; gives what takes that back. */
  listen(taskId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(taskId) ?? new Set();
    this.#listeners.set(taskId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(taskId);
    };
  }
}

/** One line for whoever waits. */
export function describeProgress(progress: ProgressNow | undefined): string {
  if (progress === undefined) return 'at work';
  const { total, done, failed } = progress.agents;
  const phase = progress.phase === null ? '' : `${progress.phase}: `;
  return `${phase}${done} of ${total} agents done${failed === 0 ? '' : `, ${failed} failed`}`;
}
