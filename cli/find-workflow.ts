import { existsSync, statSync } from 'node:fs';
import { basename, extname, isAbsolute, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { WorkflowError } from '../protocol/workflow-error.ts';
import type { FoundWorkflow } from '../runtime/run-options.ts';
import type { CliContext } from './cli-context.ts';
import { nearestWord } from './nearest-word.ts';
import { decodeText, readScriptFile } from './read-text-file.ts';
import { listSavedWorkflows } from './saved-workflows.ts';

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

type Place = Pick<CliContext, 'cwd' | 'homeDirectory'>;

/**
 * Reads the script that `wf run` was given: `-` for stdin, a file, or the name of a saved workflow (H-21).
 *
 * @throws FILE_MISSING, FILE_UNREADABLE, WORKFLOW_UNKNOWN (listing those that are), SCRIPT_TOO_LARGE,
 * USAGE_UNSUPPORTED for a graph.
 */
export async function readScriptTarget(
  target: string,
  context: Place & Pick<CliContext, 'stdin'>,
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

/** Finds a nested workflow: by name as above, by path relative to the calling workflow's folder, else to the working directory. */
export async function findNestedWorkflow(
  ref: { readonly name: string } | { readonly scriptPath: string },
  callerDirectory: string,
  place: Place,
): Promise<FoundWorkflow> {
  if ('name' in ref) return readSavedWorkflow(ref.name, place, '');
  const nearCaller = resolve(callerDirectory, ref.scriptPath);
  if (isAbsolute(ref.scriptPath) || existsSync(nearCaller)) return readWorkflowFile(nearCaller);
  return readWorkflowFile(resolve(place.cwd, ref.scriptPath));
}

async function readSavedWorkflow(name: string, place: Place, hint: string): Promise<FoundWorkflow> {
  const saved = await listSavedWorkflows(place.cwd, place.homeDirectory);
  const match = saved.find((workflow) => workflow.name === name);
  if (match !== undefined) return readWorkflowFile(match.path);
  const names = saved.map((workflow) => workflow.name);
  const near = nearestWord(name, names);
  throw new WorkflowError(
    'WORKFLOW_UNKNOWN',
    `there is no saved workflow named ${JSON.stringify(name)}${hint}. ${knownNames(names)}` +
      (near === undefined ? '' : ` Did you mean ${near}?`),
    { data: { known: names } },
  );
}

function knownNames(names: readonly string[]): string {
  if (names.length === 0) {
    return 'None are saved: they are files in .wf/workflows, .claude/workflows or .codebuddy/workflows, here, above, or in the home directory.';
  }
  return `Known are: ${names.join(', ')}.`;
}

async function readWorkflowFile(path: string): Promise<FoundWorkflow> {
  return { text: await readScriptFile(path), fileName: basename(path), path };
}

function looksLikePath(target: string): boolean {
  return /[\\/]|^\.+$/.test(target) || ['.js', '.mjs', '.cjs', '.ts', '.mts', '.txt'].includes(extname(target));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
