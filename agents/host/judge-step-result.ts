import type { AgentRequest } from '../../runtime/ports.ts';
import type { StepResult } from './step.ts';

/** What an answer of the connected agent comes to. */
export type StepVerdict =
  | { readonly type: 'value'; readonly valueJson: string }
  | { readonly type: 'null'; readonly code: 'AGENT_SKIPPED' | 'AGENT_GAVE_UP'; readonly message: string }
  | { readonly type: 'invalid' /** One line a fault, each with its path. */; readonly errors: readonly string[] };

const MAX_SUMMARY_CHARACTERS = 2_000;

/**
 * Judges what was handed in for a step. Never throws.
 *
 * With a schema `output` must fit it; without one a text is wanted, and `summary` serves where `output` is absent (H-14).
 */
export function judgeStepResult(request: AgentRequest, result: StepResult): StepVerdict {
  if (result.status !== 'success') return givenUp(request, result);
  return request.output === undefined ? judgeText(result) : judgeOutput(request.output, result);
}

function givenUp({ label }: AgentRequest, { status, summary }: StepResult): StepVerdict {
  const reason = summary?.trim() ? `: ${summary.trim().slice(0, MAX_SUMMARY_CHARACTERS)}` : '.';
  return status === 'skipped'
    ? { type: 'null', code: 'AGENT_SKIPPED', message: `The connected agent skipped "${label}"${reason}` }
    : { type: 'null', code: 'AGENT_GAVE_UP', message: `The connected agent could not do "${label}"${reason}` };
}

function judgeOutput(contract: NonNullable<AgentRequest['output']>, { output }: StepResult): StepVerdict {
  if (output === undefined)
    return { type: 'invalid', errors: ['output: is missing, and the step has an outputSchema'] };
  const verdict = contract.judge(JSON.stringify(contract.wrapped ? { value: output } : output));
  if (verdict.ok) return { type: 'value', valueJson: verdict.valueJson };
  return { type: 'invalid', errors: verdict.errors.map((line) => underOutput(line, contract.wrapped)) };
}

/** A text answers; anything else that was given is handed on as its JSON text. */
function judgeText({ output, summary }: StepResult): StepVerdict {
  const given = output ?? summary;
  if (given === undefined) return { type: 'invalid', errors: ['output: is missing, and so is summary'] };
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  return { type: 'value', valueJson: JSON.stringify(text) };
}

/** Paths of the contract begin within the value; those of a wrapped one with the wrapper. */
function underOutput(line: string, wrapped: boolean): string {
  const [path = '', ...rest] = line.split(': ');
  if (rest.length === 0) return line;
  const inner = wrapped ? path.replace(/^value(?=$|[.[])\.?/, '') : path;
  if (inner === '' || inner === 'the answer') return ['output', ...rest].join(': ');
  return [inner.startsWith('[') ? `output${inner}` : `output.${inner}`, ...rest].join(': ');
}
