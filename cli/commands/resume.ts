import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { refuseWhenDisabled } from '../../hosts/saved-workflows/kill-switch.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';
import type { CliContext } from '../cli-context.ts';
import { readArgs } from '../flags/read-args.ts';
import type { RunFlags } from '../flags/run-flags.ts';
import { executeRun } from '../launch/execute-run.ts';
import { readResumableRun } from '../launch/resumable-run.ts';
import { stateRoot } from '../state/state-root.ts';
import { assertOneRun, lastStoredRun } from '../state/stored-run.ts';

/** `wf resume`: goes on with a run under its stored script and args. Source: spec C-2. */
export async function resumeRunCommand(
  context: CliContext,
  runId: string | undefined,
  flags: RunFlags,
): Promise<number> {
  assertOneRun({ runId, last: flags.last });
  if (runId === undefined && flags.import !== undefined) {
    throw new WorkflowError('USAGE_INVALID', '--import takes a run of Claude Code: name it by its id or its folder');
  }
  refuseWhenDisabled(context);
  const root = stateRoot(context, flags);
  const argsJson = await readArgs(flags, context.cwd);
  if (runId !== undefined && flags.import !== undefined) return importRun(context, runId, root, argsJson, flags);
  if (flags.dryRun === true) {
    const run = runId === undefined ? await lastStoredRun(root) : await readResumableRun(context, root, runId);
    const { printPlan } = await import('../output/print-plan.ts');
    return printPlan(context, root, run, flags, argsJson === undefined ? {} : { argsJson });
  }
  return executeRun(context, flags, root, async () => {
    const run = runId === undefined ? await lastStoredRun(root) : await readResumableRun(context, root, runId);
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
          ...(flags.resumePolicy === undefined ? {} : { resumePolicy: flags.resumePolicy }),
          ...(argsJson === undefined ? {} : { argsJson }),
        }),
    };
  });
}

/** Starts a new run with the script, the args and the recorded answers of one that Claude Code made. */
async function importRun(
  context: CliContext,
  given: string,
  root: string,
  argsJson: string | undefined,
  flags: RunFlags,
): Promise<number> {
  const { importNotice, readClaudeRun, readClaudeScript } = await import('../state/claude-run.ts');
  return executeRun(context, flags, root, async () => {
    const run = await readClaudeRun(given, root, context);
    const script = await readClaudeScript(run);
    const fileName = `${run.runId}.js`;
    return {
      stored: {},
      agentsCwd: context.cwd,
      source: { scriptText: script.text, scriptFileName: fileName, startedByPath: false },
      launch: (options) => {
        options.onNotice?.(importNotice(run));
        return startWorkflow({
          ...options,
          cwd: context.cwd,
          script: script.text,
          fileName,
          argsJson: argsJson ?? script.argsJson,
          importedCalls: run.calls,
        });
      },
    };
  });
}
