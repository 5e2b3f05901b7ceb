import type { WorkflowMeta } from '../../protocol/workflow-meta.ts';

/** A script that may run. */
export interface ParsedScript {
  /** Name shown in positions and messages: the base name of the author's file, `stdin`, or `script.js`. */
  readonly fileName: string;
  /** The author's text with BOM and line ends normalised: what is hashed and stored. TypeScript is not stripped here. */
  readonly source: string;
  readonly meta: WorkflowMeta;
  /**
   * What the sandbox compiles: one function expression whose parameters are the workflow's globals and whose inner async,
   * strict function has the author's body, so that a local may shadow any global. Its first line is the author's line 0.
   */
  readonly code: string;
  /** Said to a person, for example a malformed phase that was dropped. */
  readonly warnings: readonly string[];
}
