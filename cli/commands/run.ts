import { refuseWhenDisabled } from '../../hosts/saved-workflows/kill-switch.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import { normalizeText } from '../../runtime/script/normalize-text.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';
import type { CliContext } from '../cli-context.ts';
import { readArgs } from '../flags/read-args.ts';
import type { RunFlags } from '../flags/run-flags.ts';
import { executeRun } from '../launch/execute-run.ts';
import { readScriptTarget } from '../launch/read-script-target.ts';
import { readResumableRun } from '../launch/resumable-run.ts';
import type { FaceSource } from '../output/run-face.ts';
import { stateRoot } from '../state/state-root.ts';

/** `wf run`: starts a run of a script, or with `--resume` goes on with one under that script. */
export async function runCommand(context: CliContext, target: string, flags: RunFlags): Promise<number> {
  refuseWhenDisabled(context);
  const root = stateRoot(context, flags);
  const [script, argsJson] = await Promise.all([readScriptTarget(target, context), readArgs(flags, context.cwd)]);
  const given = {
    script: script.text,
    fileName: script.fileName,
    ...(script.path === undefined ? {} : { scriptPath: script.path }),
    ...(argsJson === undefined ? {} : { argsJson }),
  };
  const source: FaceSource = {
    scriptText: normalizeText(script.text, script.fileName),
    scriptFileName: script.fileName,
    startedByPath: script.path !== undefined && !script.byName,
  };
  const { startedByPath } = source;
  const { resume, salvage = false } = flags;
  const resumePolicy = flags.resumePolicy === undefined ? {} : { resumePolicy: flags.resumePolicy };
  if (resume === undefined && salvage) {
    throw new WorkflowError('USAGE_INVALID', '--salvage is for a run that exists; name it with --resume RUN_ID');
  }
  if (flags.dryRun === true) {
    if (resume === undefined) {
      throw new WorkflowError(
        'USAGE_INVALID',
        '--dry-run plans a resume; name the run with --resume RUN_ID, or look at the script with wf check',
      );
    }
    const { printPlan } = await import('../output/print-plan.ts');
    return printPlan(context, root, await readResumableRun(context, root, resume), flags, given);
  }
  if (resume !== undefined && flags.import !== undefined) {
    throw new WorkflowError('USAGE_INVALID', '--import starts a new run; leave out --resume, or --import');
  }
  return executeRun(context, flags, root, async () => {
    if (resume === undefined) {
      const imported = flags.import === undefined ? undefined : await importOf(String(flags.import), root, context);
      return {
        stored: { startedByPath },
        source,
        agentsCwd: context.cwd,
        launch: (options) => {
          if (imported !== undefined) options.onNotice?.(imported.notice);
          return startWorkflow({ ...options, cwd: context.cwd, ...given, ...imported?.options });
        },
      };
    }
    const run = await readResumableRun(context, root, resume);
    return {
      stored: { ...run.flags, startedByPath },
      source,
      agentsCwd: run.record.cwd,
      launch: (options) => resumeWorkflow({ ...options, runId: run.runId, salvage, ...resumePolicy, ...given }),
    };
  });
}

async function importOf(given: string, root: string, context: CliContext) {
  const { importNotice, readClaudeRun } = await import('../state/claude-run.ts');
  const run = await readClaudeRun(given, root, context);
  return { notice: importNotice(run), options: { importedCalls: run.calls } };
}
