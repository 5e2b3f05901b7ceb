import { refuseWhenDisabled } from '../../hosts/saved-workflows/kill-switch.ts';
import { listSavedWorkflows, type SavedWorkflow } from '../../hosts/saved-workflows/list-saved-workflows.ts';
import { readScriptFile } from '../../hosts/saved-workflows/read-text-file.ts';
import { ago } from '../ago.ts';
import type { CliContext } from '../cli-context.ts';
import { stateRoot } from '../state-root.ts';
import { listStoredRuns, type StoredRun } from '../stored-run.ts';
import { textTable } from '../text-table.ts';

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
    textTable(runs.map((run) => [run.runId, run.state, ago(run.record.updatedAt, context.now()), run.record.name])),
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
  const saved = await listSavedWorkflows(context.cwd, context.homeDirectory);
  const described = (await Promise.all(saved.map(describe))).filter((one) => one !== undefined);
  if (json) {
    context.stdout.write(`${JSON.stringify(described, null, 2)}\n`);
    return 0;
  }
  if (described.length === 0) {
    context.stderr.write(
      'no saved workflows; they are scripts in .wf/workflows, .claude/workflows or .codebuddy/workflows, here, above, or in the home directory\n',
    );
  }
  context.stdout.write(textTable(described.map(({ name, description, path }) => [name, description, path])));
  return 0;
}

/** A file that is no valid workflow is not listed; it says why when it is named (H-21). */
async function describe({ name, path }: SavedWorkflow) {
  const { parseScript } = await import('../../runtime/script/parse-script.ts');
  try {
    const { meta } = parseScript(await readScriptFile(path), { fileName: path });
    return {
      name,
      description: meta.description,
      ...(meta.whenToUse === undefined ? {} : { whenToUse: meta.whenToUse }),
      path,
    };
  } catch {
    return undefined;
  }
}
