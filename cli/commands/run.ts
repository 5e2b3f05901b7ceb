import { WorkflowError } from '../../protocol/workflow-error.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';
import type { CliContext } from '../cli-context.ts';
import { executeRun, refuseWhenDisabled, stateRootOf } from '../execute-run.ts';
import { readScriptTarget } from '../find-workflow.ts';
import { readArgs } from '../read-args.ts';
import type { RunFlags } from '../run-flags.ts';
import { readStoredRun } from '../stored-run.ts';

/** `wf run`: starts a run of a script, or with `--resume` goes on with one under that script. */
export async function runCommand(context: CliContext, target: string, flags: RunFlags): Promise<number> {
  refuseWhenDisabled(context);
  const root = stateRootOf(context, flags);
  const [source, argsJson] = await Promise.all([readScriptTarget(target, context), readArgs(flags, context.cwd)]);
  const script = {
    script: source.text,
    fileName: source.fileName,
    ...(source.path === undefined ? {} : { scriptPath: source.path }),
    ...(argsJson === undefined ? {} : { argsJson }),
  };
  const { resume, salvage = false } = flags;
  if (resume === undefined && salvage) {
    throw new WorkflowError('USAGE_INVALID', '--salvage is for a run that exists; name it with --resume RUN_ID');
  }
  return executeRun(context, flags, root, async () => {
    if (resume === undefined) {
      return {
        stored: {},
        scriptText: source.text,
        launch: (options) => startWorkflow({ ...options, cwd: context.cwd, ...script }),
      };
    }
    const run = await readStoredRun(root, resume);
    return {
      stored: run.flags,
      scriptText: source.text,
      launch: (options) => resumeWorkflow({ ...options, runId: run.runId, salvage, ...script }),
    };
  });
}
