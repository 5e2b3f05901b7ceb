import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createRunStore } from '../../cache/run-store.ts';
import { refuseWhenDisabled } from '../../hosts/saved-workflows/kill-switch.ts';
import { readTextFile } from '../../hosts/saved-workflows/read-text-file.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { type ForkedRun, type ForkOptions, forkRun } from '../../runtime/replay/fork-run.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import type { CliContext } from '../cli-context.ts';
import { readArgs } from '../flags/read-args.ts';
import type { RunFlags } from '../flags/run-flags.ts';
import { executeRun } from '../launch/execute-run.ts';
import { readScriptTarget } from '../launch/read-script-target.ts';
import { resumeCommand } from '../launch/resume-command.ts';
import { defaultStateRoot, stateRoot } from '../state/state-root.ts';
import { readStoredRows } from '../state/stored-rows.ts';
import { readStoredRun, type StoredRun } from '../state/stored-run.ts';

/** Options of `wf fork` beyond those of `wf resume`. */
export interface ForkFlags extends RunFlags {
  readonly edit?: string;
  readonly from?: string;
  /** False with `--no-run`. */
  readonly run?: boolean;
}

/** `wf fork`: makes a new run that shares the answers of another up to a point, and goes on with it. */
export async function forkCommand(context: CliContext, idOrPrefix: string, flags: ForkFlags): Promise<number> {
  refuseWhenDisabled(context);
  if (flags.dryRun === true) {
    throw new WorkflowError(
      'USAGE_INVALID',
      'wf fork has no --dry-run: make the run with --no-run, and look at it with wf resume --dry-run',
    );
  }
  const root = stateRoot(context, flags);
  const argsJson = await readArgs(flags, context.cwd);
  if (flags.run === false) {
    if (argsJson !== undefined) {
      throw new WorkflowError('USAGE_INVALID', '--no-run launches nothing; give the args to the resume that does');
    }
    return makeOnly(context, root, idOrPrefix, flags);
  }
  return executeRun(context, flags, root, async () => {
    const old = await readStoredRun(root, idOrPrefix);
    const edit = await readEdit(context, flags);
    const startedByPath = edit === undefined ? old.flags.startedByPath : edit.path !== undefined;
    return {
      stored: { ...old.flags, ...(startedByPath === undefined ? {} : { startedByPath }) },
      agentsCwd: old.record.cwd,
      source: {
        scriptText: edit?.text ?? (await readFile(join(old.path, 'script.js'), 'utf8').catch(() => undefined)),
        scriptFileName: edit?.fileName ?? old.record.scriptFileName,
        startedByPath: startedByPath ?? false,
      },
      launch: async (options) => {
        const forked = await makeFork(context, root, old, { ...flags, edit });
        if (flags.quiet !== true) context.stderr.write(`note: ${describeFork(old, forked)}\n`);
        return resumeWorkflow({ ...options, runId: forked.runId, ...(argsJson === undefined ? {} : { argsJson }) });
      },
    };
  });
}

async function makeOnly(context: CliContext, root: string, idOrPrefix: string, flags: ForkFlags): Promise<number> {
  const old = await readStoredRun(root, idOrPrefix);
  const forked = await makeFork(context, root, old, { ...flags, edit: await readEdit(context, flags) });
  const { runId, shared, left } = forked;
  const resume = resumeCommand({ runId, stateRoot: root, defaultStateRoot: defaultStateRoot(context.homeDirectory) });
  if (flags.outputFormat === 'json') {
    context.stdout.write(`${JSON.stringify({ runId, forkedFrom: old.runId, shared, left, resume })}\n`);
    return 0;
  }
  context.stdout.write(`${runId}\n`);
  if (flags.quiet !== true) context.stderr.write(`${describeFork(old, forked)}\n  resume: ${resume}\n`);
  return 0;
}

async function makeFork(
  context: CliContext,
  root: string,
  old: StoredRun,
  { edit, from, salvage }: Pick<ForkFlags, 'from' | 'salvage'> & { readonly edit: ForkOptions['edit'] | undefined },
): Promise<ForkedRun> {
  const { record, path } = old;
  const [stored, scriptText, argsJson] = await Promise.all([
    readStoredRows(path, salvage),
    readTextFile(join(path, 'script.js'), 'the stored script'),
    record.argsSha256 === null ? undefined : readTextFile(join(path, 'args.json'), 'the stored args'),
  ]);
  for (const warning of stored.warnings) context.stderr.write(`note: ${warning}\n`);
  const { rows, asked } = stored;
  return forkRun(
    createRunStore({ root }),
    { record, scriptText, argsJson, rows, asked },
    { ...(from === undefined ? {} : { from }), ...(edit === undefined ? {} : { edit }), now: context.now() },
  );
}

async function readEdit(context: CliContext, { edit }: ForkFlags): Promise<ForkOptions['edit'] | undefined> {
  if (edit === undefined) return undefined;
  const { text, fileName, path } = await readScriptTarget(edit, context);
  return { text, fileName: basename(fileName), ...(path === undefined ? {} : { path }) };
}

function describeFork(old: StoredRun, { runId, shared, left }: ForkedRun): string {
  const answers = shared === 1 ? '1 answer' : `${shared} answers`;
  const rest = left === 0 ? '' : `, and not the later ${left === 1 ? 'one' : left}`;
  return `run ${runId} has ${answers} of ${old.runId}${rest}`;
}
