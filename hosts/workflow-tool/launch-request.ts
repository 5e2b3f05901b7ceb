import { resolve } from 'node:path';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { readSavedWorkflow, readWorkflowFile, type SearchPlace } from '../saved-workflows/find-workflow.ts';

/** What a host asks for when it launches a workflow. Of the scripts `scriptPath` goes before `name`, and `name` before `script`. */
export interface LaunchRequest {
  /** The text of a script. */
  readonly script?: string | undefined;
  /** A file; relative paths go from the working directory. */
  readonly scriptPath?: string | undefined;
  /** A saved or built-in workflow. */
  readonly name?: string | undefined;
  /** Any JSON value; undefined gives none, and on a resume the stored ones. */
  readonly args?: unknown;
  /** Goes on with that run; without a script, under its own. */
  readonly resumeFromRunId?: string | undefined;
  /** The tool call that asks, named in the lines and the notification. */
  readonly toolUseId?: string | undefined;
  /** Output tokens. @defaultValue that of the options; on a resume the stored one */
  readonly budget?: number | undefined;
}

/** The script that a request names. */
export interface RequestedScript {
  readonly text: string;
  /** Name shown in positions; undefined for a text. */
  readonly fileName: string | undefined;
  /** Absolute path of the author's file; undefined for a text. */
  readonly path: string | undefined;
  readonly by: 'path' | 'name' | 'text';
}

/**
 * Reads the script that a request names; undefined when it goes on with a run under its own.
 *
 * @throws USAGE_INVALID when nothing is named; FILE_…, WORKFLOW_UNKNOWN, SCRIPT_TOO_LARGE
 */
export async function readRequestedScript(
  request: LaunchRequest,
  place: SearchPlace,
): Promise<RequestedScript | undefined> {
  const { script, scriptPath, name, resumeFromRunId } = request;
  if (scriptPath !== undefined) return { ...(await readWorkflowFile(resolve(place.cwd, scriptPath))), by: 'path' };
  if (name !== undefined) return { ...(await readSavedWorkflow(name, place)), by: 'name' };
  if (script !== undefined) return { text: script, fileName: undefined, path: undefined, by: 'text' };
  if (resumeFromRunId !== undefined) return undefined;
  throw new WorkflowError(
    'USAGE_INVALID',
    'no workflow was named: give "script" (its text), "scriptPath" (a file), "name" (a saved workflow) or "resumeFromRunId"',
  );
}

/**
 * Gives args as JSON text; undefined for none.
 *
 * @throws USAGE_INVALID for what JSON cannot hold
 */
export function argsText(args: unknown): string | undefined {
  if (args === undefined) return undefined;
  try {
    const text: string | undefined = JSON.stringify(args);
    if (text !== undefined) return text;
  } catch (cause) {
    const why =
      cause instanceof RangeError
        ? 'they are nested too deeply or too large; give flatter JSON, or the deep part as a text'
        : String(cause);
    throw new WorkflowError('USAGE_INVALID', `the args cannot be written as JSON: ${why}`, { cause });
  }
  throw new WorkflowError('USAGE_INVALID', `the args are a ${typeof args}; they must be a JSON value`);
}
