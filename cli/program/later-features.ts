import { WorkflowError } from '../../protocol/workflow-error.ts';

/** Commands that are specified but not in this version, with what serves instead, where something does. */
export const LATER_COMMANDS: Readonly<Record<string, string>> = {
  attach: 'Follow a run with wf logs <runId> -f',
  wait: 'Follow a run with wf logs <runId> -f, which ends when the run does',
  report: 'Look at a run with wf show <runId>',
  graph: 'Read the script with wf check',
  compile: 'Write the workflow as a script',
  ui: 'Follow a run with wf logs <runId> -f',
  worker: 'Agents run in the process of wf run',
};

/** An option of `run` and `resume` that is specified but not in this version. */
export interface LaterOption {
  readonly flags: string;
  /** Name of its value in commander. */
  readonly name: string;
  readonly instead: string;
}

export const LATER_OPTIONS: readonly LaterOption[] = [];

export const LATER_BACKENDS: readonly string[] = ['restate'];
export const LATER_OUTPUT_FORMATS: readonly string[] = ['workbench'];

/** The refusal of something that is known but not there yet. */
export function notYet(what: string, instead: string): WorkflowError {
  return new WorkflowError('USAGE_UNSUPPORTED', `${what} is not in this version of wf. ${instead}.`);
}
