import { existsSync, statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { readSavedWorkflow, readWorkflowFile } from '../../hosts/saved-workflows/find-workflow.ts';
import { decodeText } from '../../hosts/saved-workflows/read-text-file.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { CliContext } from '../cli-context.ts';

/** A script that was named on the command line. `path` is absent for stdin. */
export interface ScriptSource {
  readonly text: string;
  /** Name shown in positions. */
  readonly fileName: string;
  /** Absolute. */
  readonly path?: string;
  /** It was named by its saved name. */
  readonly byName: boolean;
}

/**
 * Reads the script that `wf run` was given: `-` for stdin, a file, or the name of a saved workflow (H-21).
 *
 * @throws FILE_MISSING, FILE_UNREADABLE, WORKFLOW_UNKNOWN (listing those that are), SCRIPT_TOO_LARGE,
 * USAGE_UNSUPPORTED for a graph.
 */
export async function readScriptTarget(
  target: string,
  context: Pick<CliContext, 'cwd' | 'homeDirectory' | 'stdin'>,
): Promise<ScriptSource> {
  if (target === '-') {
    const text = decodeText(await buffer(context.stdin), '-', 'the script on stdin');
    return { text, fileName: 'stdin', byName: false };
  }
  if (target.trim() === '') throw new WorkflowError('USAGE_INVALID', 'the name of the script is empty');
  if (extname(target) === '.json') {
    throw new WorkflowError(
      'USAGE_UNSUPPORTED',
      `${target} is a graph of steps, and this version runs scripts only; write the workflow as a .js script`,
    );
  }
  const path = resolve(context.cwd, target);
  if (looksLikePath(target) || isFile(path)) return { ...(await readWorkflowFile(path)), byName: false };
  const hint = existsSync(path) ? ` (${path} is a directory; a script in it is named by its path)` : '';
  return { ...(await readSavedWorkflow(target, context, hint)), byName: true };
}

function looksLikePath(target: string): boolean {
  return /[\\/]|^\.+$/.test(target) || ['.js', '.mjs', '.cjs', '.ts', '.mts', '.txt'].includes(extname(target));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
