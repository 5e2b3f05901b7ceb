import { SCRIPT_LANGUAGE } from '../workflow-tool/script-language.ts';

/** A script that a model wrote, and what is wrong with it. */
export interface Rejected {
  readonly script: string;
  /** What the checker said, a message each. */
  readonly faults: readonly string[];
}

/** Asks a model for a script. @param rejected what it wrote before, to be mended */
export function authorPrompt(task: string, argsJson: string | undefined, rejected?: Rejected): string {
  const parts = [TASK, SCRIPT_LANGUAGE, HOW, `## The task\n\n${task}`];
  if (argsJson !== undefined) parts.push(`## The args that the script will get\n\n${argsJson}`);
  if (rejected !== undefined) {
    const faults = rejected.faults.map((fault) => `- ${fault}`).join('\n');
    parts.push(`## Your last script\n\n${rejected.script}`, `## What the checker says about it\n\n${faults}`, MEND);
  }
  return parts.join('\n\n');
}

const TASK = `Write a workflow script for the task at the end. The script itself reads no files and writes none: it gives the work to agents, and code decides only what comes after what.`;

const HOW = `## How to go about it

- Look at the working directory first where the task is about files, so that prompts can name real paths. Do not do the task yourself.
- Use as few agents as do the task well: side by side where parts do not need one another, with a check by other agents where a wrong finding would hurt.
- Give \`phases\` in meta, a \`label\` to each agent, and a schema to each answer that code reads.
- Answer with the script and nothing else: no fence around it, no word before or after it.`;

const MEND = `Mend all of that and nothing else, and answer with the whole script.`;
