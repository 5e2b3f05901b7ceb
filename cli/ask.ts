import { createInterface } from 'node:readline/promises';
import { WorkflowError } from '../protocol/workflow-error.ts';
import type { CliContext } from './cli-context.ts';

/** Whether there is a person at a terminal. */
export function canAsk(context: CliContext): boolean {
  return (context.stdin as { isTTY?: boolean }).isTTY === true && context.stderr.isTerminal;
}

/** Asks a person a yes-or-no question on the terminal. @throws USAGE_INVALID when there is nobody to ask */
export async function askYesNo(context: CliContext, question: string): Promise<boolean> {
  if (!canAsk(context)) {
    throw new WorkflowError('USAGE_INVALID', `${question} There is no terminal to ask on; give --yes to go ahead.`);
  }
  const reader = createInterface({ input: context.stdin, output: context.stderr.stream });
  try {
    return /^y(es)?$/i.test((await reader.question(`${question} [y/N] `)).trim());
  } finally {
    reader.close();
  }
}
