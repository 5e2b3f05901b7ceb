import { shellQuote } from '../../hosts/workflow-tool/shell-quote.ts';
import type { WorkflowError } from '../../protocol/workflow-error.ts';

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
  /** Limits that the run met. */
  readonly limitsHit?: readonly WorkflowError[] | undefined;
}

/**
 * Gives the command that resumes a run, as a POSIX shell takes it from any directory. Source: spec C-6, C-8.
 *
 * `scripted` and its file are left out: planned answers belong to one launch. A resume that names no backend goes on
 * with the stored one, and with simulated agents where that was `scripted`.
 *
 * A limit that would end the resume at the same place is doubled, as far as it is known.
 */
export function resumeCommand(parts: ResumeCommandParts): string {
  const words = ['wf', 'resume', parts.runId];
  if (parts.stateRoot !== parts.defaultStateRoot) words.push('--state-dir', parts.stateRoot);
  if (parts.backend !== undefined && parts.backend !== 'scripted') words.push('--backend', parts.backend);
  if (parts.agentCommand !== undefined) words.push('--agent-command', parts.agentCommand.map(shellQuote).join(' '));
  if (parts.model !== undefined) words.push('--model', parts.model);
  words.push(...(parts.limitsHit ?? []).flatMap(raisedLimit));
  return words.map(shellQuote).join(' ');
}

/** The option that doubles a limit; none for limits that belong to the script, or that more would not help. */
function raisedLimit({ code, data = {} }: WorkflowError): string[] {
  const { limit, budget, budgetUsd, spentUsd } = data as Readonly<Record<string, unknown>>;
  if (code === 'LIMIT_AGENT_COUNT' && typeof limit === 'number') return ['--max-agents', String(2 * limit)];
  if (code !== 'LIMIT_BUDGET') return [];
  if (typeof budget === 'number') return ['--budget', String(2 * budget)];
  return typeof budgetUsd === 'number' && spentUsd !== undefined ? ['--budget-usd', String(2 * budgetUsd)] : [];
}
