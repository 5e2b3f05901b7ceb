import { isWorkflowError, toErrorRecord } from '../../protocol/workflow-error.ts';
import { errorPage } from '../error-page.ts';
import type { TextOutput } from './text-output.ts';

/**
 * Prints an error for a person: what happened and what to do, the code, and where the code is explained. A stack only
 * when `debug` is set. Source: spec C-10.
 */
export function printError(stderr: TextOutput, error: unknown, debug: boolean): void {
  const { code, message } = toErrorRecord(error);
  const [first = '', ...more] = message.split('\n');
  const label = code === 'RUN_CANCELLED' ? 'stopped' : 'error';
  stderr.write(`${[`${label}: ${plainText(first)} [${code}]`, ...more.map(plainText)].join('\n')}\n`);
  if (code === 'INTERNAL_INVARIANT') {
    stderr.write('  This is a fault of wf. Please report it with the output of WF_DEBUG=1.\n');
  }
  if (code !== 'RUN_CANCELLED') stderr.write(`  docs: ${errorPage(code)}\n`);
  if (debug && error instanceof Error) stderr.write(`${stackOf(error)}\n`);
}

/** Texts of scripts and agents must not steer the terminal. */
function plainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}

function stackOf(error: Error): string {
  const own = error.stack ?? String(error);
  return error.cause instanceof Error && !isWorkflowError(error.cause)
    ? `${own}\ncaused by ${stackOf(error.cause)}`
    : own;
}

/** Tells whether stacks are wanted. */
export function wantsStacks(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['WF_DEBUG'] === '1';
}
