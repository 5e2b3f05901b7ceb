import { SCRIPT_LANGUAGE } from './script-language.ts';

/** What the Workflow tool tells a model about itself (H-4). */
export const WORKFLOW_TOOL_DESCRIPTION = `Runs a workflow: a script that starts many subagents, in parallel and in stages, and returns one result. You write the script, or name a saved one.

Use it when a task splits into parts that agents can do side by side (many files, sources, candidates, angles), when findings should be checked by agents that did not make them, or when the user asks for a workflow. Do small things yourself: each agent costs tokens and time. Unless the user asked for the workflow, say what you mean to run first.

## The call
Give one of: \`script\` (the text), \`scriptPath\` (a file), \`name\` (a saved workflow; \`deep-research\` and \`review\` are built in). \`scriptPath\` goes before \`name\`, \`name\` before \`script\`. \`args\` is any JSON value: pass it as a value, not as text.
It returns at once with a task id, a run id and the path of the script, and runs in the background. A <task-notification> with the result comes when it ends: go on, or end your turn; do not wait or poll. TaskStop ends it early.
To change a script or go on with a run that failed or was stopped: edit the file at scriptPath and call again with that \`scriptPath\` and \`resumeFromRunId\`. Agents that are unchanged and have finished are answered from the journal at no cost; only new, changed and failed ones run. A script that is not valid starts nothing and says where it is wrong.

${SCRIPT_LANGUAGE}`;

/** What the TaskStop tool tells a model about itself. */
export const TASK_STOP_DESCRIPTION =
  'Stops a workflow that runs in the background, by its task id. What its agents have finished is kept, so the run can go on later with resumeFromRunId. Its <task-notification> follows.';
