import { shellQuote } from '../hosts/workflow-tool/shell-quote.ts';

export interface ResumeCommandParts {
  readonly runId: string;
  /** Absolute path of the state directory in use. */
  readonly stateRoot: string;
  /** The one that `wf` uses when nobody names one, in any shell. */
  readonly defaultStateRoot: string;
  /** Options of the backend as they were typed; the stored ones need no naming. */
  readonly backend?: string | undefined;
  readonly agentCommand?: readonly string[] | undefined;
  readonly model?: string | undefined;
}

/**
 * Gives the command that resumes a run, as a POSIX shell takes it from any directory. Source: spec C-6, C-8.
 *
 * `scripted` and its file are left out: planned answers belong to one launch. A resume that names no backend goes on
 * with the stored one, and with simulated agents where that was `scripted`.
 */
export function resumeCommand(parts: ResumeCommandParts): string {
  const words = ['wf', 'resume', parts.runId];
  if (parts.stateRoot !== parts.defaultStateRoot) words.push('--state-dir', parts.stateRoot);
  if (parts.backend !== undefined && parts.backend !== 'scripted') words.push('--backend', parts.backend);
  if (parts.agentCommand !== undefined) words.push('--agent-command', parts.agentCommand.map(shellQuote).join(' '));
  if (parts.model !== undefined) words.push('--model', parts.model);
  return words.map(shellQuote).join(' ');
}
