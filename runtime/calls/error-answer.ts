import type { WorkflowError } from '../../protocol/workflow-error.ts';
import type { SandboxAnswer } from '../sandbox/sandbox.ts';

/**
 * Gives the answer that makes a call of the script reject with an error.
 *
 * @param passesThrough whether `parallel` and `pipeline` let it end the script instead of making a `null` of it
 */
export function errorAnswer({ code, message, data }: WorkflowError, passesThrough: boolean): SandboxAnswer {
  return {
    ok: false,
    error: {
      name: 'WorkflowError',
      code,
      message,
      ...(data === undefined ? {} : { data }),
      ...(passesThrough ? { passesThrough } : {}),
    },
  };
}
