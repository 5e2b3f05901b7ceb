import type { DescribedWorkflow } from '../../hosts/saved-workflows/describe-saved-workflows.ts';
import { refuseWhenDisabled } from '../../hosts/saved-workflows/kill-switch.ts';
import type { CliContext } from '../cli-context.ts';
import { ago } from '../output/ago.ts';
import { stateWord } from '../output/state-word.ts';
import { textTable } from '../output/text-table.ts';
import { stateRoot } from '../state/state-root.ts';
import { listStoredRuns, type StoredRun } from '../state/stored-run.ts';

export interface ListFlags {
  readonly stateDir?: string;
  readonly json?: boolean;
  readonly workflows?: boolean;
}

/** `wf list`: the runs, newest first, or the saved workflows. Source: spec C-5, H-21. */
export async function listCommand(context: CliContext, flags: ListFlags): Promise<number> {
  if (flags.workflows === true) return listWorkflows(context, flags.json === true);
  const root = stateRoot(context, flags);
  const runs = await listStoredRuns(root, (runId, { code, message }) => {
    // Without a record it may be about to be made.
    if (code !== 'FILE_MISSING') context.stderr.write(`note: ${runId} is left out: ${message}\n`);
  });
  if (flags.json === true) {
    context.stdout.write(`${JSON.stringify(runs.map(runRow), null, 2)}\n`);
    return 0;
  }
  if (runs.length === 0) context.stderr.write(`no runs in ${root}; start one with wf run <script>\n`);
  context.stdout.write(
    textTable(
      runs.map((run) => [run.runId, stateWord(run.state), ago(run.record.updatedAt, context.now()), run.record.name]),
    ),
  );
  return 0;
}

/** A run as `--json` shows it; `status` says `interrupted` where a running one lost its process. */
export function runRow(run: StoredRun): object {
  const { v: _v, options: _options, owner: _owner, ...record } = run.record;
  return {
    ...record,
    status: run.state,
    path: run.path,
    ...(run.owner === undefined ? {} : { owner: { host: run.owner.host, pid: run.owner.pid, since: run.owner.since } }),
  };
}

async function listWorkflows(context: CliContext, json: boolean): Promise<number> {
  refuseWhenDisabled(context);
  const { describeSavedWorkflows } = await import('../../hosts/saved-workflows/describe-saved-workflows.ts');
  const described = await describeSavedWorkflows(context);
  if (json) {
    context.stdout.write(`${JSON.stringify(described.map(workflowRow), null, 2)}\n`);
    return 0;
  }
  if (described.every(({ builtIn }) => builtIn)) {
    context.stderr.write(
      'no workflows of your own; they are scripts in .wf/workflows, .claude/workflows or .codebuddy/workflows, here, above, or in the home directory\n',
    );
  }
  context.stdout.write(
    textTable(
      described.map(({ name, meta, path, builtIn }) => [name, meta.description, builtIn ? '(built in)' : path]),
    ),
  );
  return 0;
}

function workflowRow({ name, meta, path, builtIn }: DescribedWorkflow): object {
  const { description, whenToUse } = meta;
  return { name, description, ...(whenToUse === undefined ? {} : { whenToUse }), path, builtIn };
}
