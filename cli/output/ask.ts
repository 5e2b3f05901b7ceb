import { createInterface } from 'node:readline/promises';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { CliContext } from '../cli-context.ts';

/** Whether there is a person at a terminal. */
export function canAsk(context: CliContext): boolean {
  return (context.stdin as { isTTY?: boolean }).isTTY === true && context.stderr.isTerminal;
}

/** Asks a person a yes-or-no question on the terminal. End of input means no. @throws USAGE_INVALID when there is nobody to ask, RUN_CANCELLED on Ctrl-C */
export async function askYesNo(context: CliContext, question: string): Promise<boolean> {
  if (!canAsk(context)) {
    throw new WorkflowError('USAGE_INVALID', `${question} There is no terminal to ask on; give --yes to go ahead.`);
  }
  const reader = createInterface({ input: context.stdin, output: context.stderr.stream });
  try {
    return /^y(es)?$/i.test((await reader.question(`${question} [y/N] `)).trim());
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    context.stderr.write('\n');
    if ((error as Error).message.includes('Ctrl+D')) return false;
    throw new WorkflowError('RUN_CANCELLED', 'the question was not answered, so nothing went on', { cause: error });
  } finally {
    reader.close();
  }
}
