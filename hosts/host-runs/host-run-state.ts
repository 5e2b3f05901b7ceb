import type { Step } from '../../agents/host/step.ts';
import type { ErrorRecord } from '../../protocol/workflow-error.ts';

/** What the connected agent learns of a run whose agents it does. Source: spec H-12, H-13. */
export interface HostRunState {
  readonly runId: string;
  /** `running` while the script waits for a timer of its own, or longer than anybody waits for it. */
  readonly status: 'awaiting_agent' | 'running' | 'completed' | 'failed' | 'cancelled';
  readonly pending: readonly Step[];
  /** The last lines of the script's log, secrets taken out, oldest first. */
  readonly logs: readonly string[];
  /** Exact JSON text of the result of a completed run; absent when it returned nothing. */
  readonly resultJson?: string;
  /** Absolute path of `output.json`, once the run is over. */
  readonly outputFile?: string;
  readonly error?: Pick<ErrorRecord, 'code' | 'message'>;
}
