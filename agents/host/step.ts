/** A piece of work that waits for the connected agent. Source: spec H-12. */
export interface Step {
  /** Names the step within its run, and the run; the same after a restart. */
  readonly stepId: string;
  /** `v1:` key of the call. */
  readonly agentKey: string;
  /** Label of the call. */
  readonly name: string;
  readonly phase: string | null;
  /** The prompt that the script computed. */
  readonly instruction: string;
  /** JSON Schema that `output` must fit; absent when a text is wanted. */
  readonly outputSchema?: unknown;
  /** Counts the answers to this step from 1, this next one included. */
  readonly attempt: number;
  /** How the step is to be done and handed in. */
  readonly contract: string;
  /** Absolute path of the working copy that the step has to itself; absent where it works in the run's own directory. */
  readonly cwd?: string;
  /** What the step's agent type asks of whoever does it; absent without a type. */
  readonly role?: string;
  /** The model that the script asks for. */
  readonly model?: string;
}

/** What the connected agent hands in. Source: spec H-13. */
export interface StepResult {
  readonly status: 'success' | 'failed' | 'skipped';
  readonly summary?: string | undefined;
  /** Any JSON; whether it is there tells it apart from null. */
  readonly output?: unknown;
  /** For graphs; a script has no use for it. */
  readonly branchLabel?: string | undefined;
}
