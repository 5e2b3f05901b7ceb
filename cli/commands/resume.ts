import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import type { CliContext } from '../cli-context.ts';
import { executeRun } from '../execute-run.ts';
import { refuseWhenDisabled } from '../kill-switch.ts';
import { readArgs } from '../read-args.ts';
import type { RunFlags } from '../run-flags.ts';
import { stateRoot } from '../state-root.ts';
import { lastStoredRun, readStoredRun } from '../stored-run.ts';

/** `wf resume`: goes on with a run under its stored script and args. Source: spec C-2. */
export async function resumeRunCommand(
  context: CliContext,
  runId: string | undefined,
  flags: RunFlags,
): Promise<number> {
  if ((runId === undefined) === (flags.last !== true)) {
    throw new WorkflowError('USAGE_INVALID', 'name one run, by its id or with --last; wf list shows them');
  }
  refuseWhenDisabled(context);
  const root = stateRoot(context, flags);
  const argsJson = await readArgs(flags, context.cwd);
  return executeRun(context, flags, root, async () => {
    const run = runId === undefined ? await lastStoredRun(root) : await readStoredRun(root, runId);
    return {
      stored: run.flags,
      agentsCwd: run.record.cwd,
      source: {
        scriptText: await readFile(join(run.path, 'script.js'), 'utf8').catch(() => undefined),
        scriptFileName: run.record.scriptFileName,
        startedByPath: run.flags.startedByPath ?? false,
      },
      launch: (options) =>
        resumeWorkflow({
          ...options,
          runId: run.runId,
          salvage: flags.salvage ?? false,
          ...(argsJson === undefined ? {} : { argsJson }),
        }),
    };
  });
}
