import { isWorkflowError, WorkflowError } from '../protocol/workflow-error.ts';
import { errnoOf } from './disk.ts';

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'Free some space on that disk',
  EDQUOT: 'Free some space or have the quota raised',
  EROFS: 'Make that file system writable',
  EACCES: 'Give yourself the right to write there',
  EPERM: 'Give yourself the right to write there',
  ENOTDIR: 'Move the file away that stands where a directory is needed',
  EEXIST: 'Move the file away that stands where a directory is needed',
  EMFILE: 'Raise the limit of open files (ulimit -n)',
  ENFILE: 'Raise the limit of open files of this machine',
};

/**
 * Makes the `STATE_UNWRITABLE` error for a path of the state directory. `lost` is a sentence about what was not stored.
 * An error that already has a code is given back as it is.
 */
export function unwritableError(path: string, cause: unknown, lost = ''): WorkflowError {
  if (isWorkflowError(cause)) {
    return cause;
  }
  const errno = errnoOf(cause);
  const reason = cause instanceof Error ? cause.message : String(cause);
  const advice = ADVICE[errno ?? ''] ?? 'Look after that disk';
  return new WorkflowError(
    'STATE_UNWRITABLE',
    `${path} cannot be written: ${reason}. ${lost === '' ? '' : `${lost} `}${advice}, or choose another place with --state-dir.`,
    { cause, data: { path, ...(errno === undefined ? {} : { errno }) } },
  );
}
