import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { CleanedWorktrees } from '../../agents/worktrees/clean-worktrees.ts';
import { nodeDisk } from '../../cache/disk.ts';
import { systemProcesses } from '../../cache/process-table.ts';
import { acquireRunLock } from '../../cache/run-lock.ts';
import { shellQuote } from '../../hosts/workflow-tool/shell-quote.ts';
import { isWorkflowError, WorkflowError } from '../../protocol/workflow-error.ts';
import type { WorktreePlace } from '../../runtime/ports.ts';
import type { CliContext } from '../cli-context.ts';
import { ago } from '../output/ago.ts';
import { askYesNo } from '../output/ask.ts';
import { stateWord } from '../output/state-word.ts';
import { textTable } from '../output/text-table.ts';
import { stateRoot } from '../state/state-root.ts';
import { listStoredRuns, readStoredRun, type StoredRun } from '../state/stored-run.ts';

export interface CleanFlags {
  readonly stateDir?: string;
  readonly json?: boolean;
  /** Milliseconds. */
  readonly olderThan?: number;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  /** Also worktrees that hold work which is nowhere else. */
  readonly worktrees?: boolean;
}

/**
 * `wf clean`: removes runs that are over, or those that are named. A live run is never removed: each is taken like a
 * resume takes it before it goes. Interrupted runs, which wait for a resume, go only when they are named.
 */
export async function cleanCommand(context: CliContext, runIds: readonly string[], flags: CleanFlags): Promise<number> {
  const root = stateRoot(context, flags);
  const chosen = await choose(root, runIds, flags, context.now());
  if (flags.dryRun !== true && chosen.length > 0 && flags.yes !== true) {
    const runs = chosen.length === 1 ? '1 run' : `${chosen.length} runs`;
    if (!(await askYesNo(context, `Remove ${runs} from ${root}?`))) return 0;
  }
  const removed: StoredRun[] = [];
  const kept: WorktreePlace[] = [];
  for (const run of chosen) {
    if (flags.dryRun !== true) {
      const trees = await remove(run, context, flags);
      if (trees === undefined) continue;
      kept.push(...trees.kept);
    }
    removed.push(run);
  }
  print(context, flags, removed, kept);
  return 0;
}

async function choose(
  root: string,
  runIds: readonly string[],
  flags: CleanFlags,
  nowMs: number,
): Promise<readonly StoredRun[]> {
  const named = await Promise.all(runIds.map((id) => readStoredRun(root, id)));
  const live = named.find((run) => run.owner !== undefined);
  if (live !== undefined) {
    throw new WorkflowError(
      'REPLAY_RUN_LIVE',
      `run ${live.runId} is running; stop it first with wf stop ${live.runId}`,
    );
  }
  const runs = runIds.length > 0 ? named : (await listStoredRuns(root, () => {})).filter(isOver);
  const { olderThan } = flags;
  return olderThan === undefined ? runs : runs.filter((run) => nowMs - run.record.updatedAt >= olderThan);
}

function isOver({ state, owner }: StoredRun): boolean {
  return owner === undefined && state !== 'running' && state !== 'interrupted';
}

/** Undefined when another process has taken the run meanwhile. */
async function remove(
  run: StoredRun,
  context: CliContext,
  { worktrees = false }: CleanFlags,
): Promise<CleanedWorktrees | undefined> {
  try {
    await acquireRunLock({
      disk: nodeDisk,
      runPath: run.path,
      processes: systemProcesses(),
      now: context.now,
      randomHex: () => randomBytes(4).toString('hex'),
    });
  } catch (error) {
    if (isWorkflowError(error) && error.code === 'REPLAY_RUN_LIVE') return undefined;
    throw error;
  }
  const { cleanWorktrees } = await import('../../agents/worktrees/clean-worktrees.ts');
  const { runId, record } = run;
  const trees = await cleanWorktrees({ env: context.env, runId, cwd: record.cwd, force: worktrees });
  await rm(run.path, { recursive: true, force: true });
  return trees;
}

function print(
  context: CliContext,
  flags: CleanFlags,
  runs: readonly StoredRun[],
  kept: readonly WorktreePlace[],
): void {
  if (flags.json === true) {
    context.stdout.write(
      `${JSON.stringify({ removed: runs.map((run) => run.runId), dryRun: flags.dryRun === true, ...(kept.length === 0 ? {} : { keptWorktrees: kept }) })}\n`,
    );
    return;
  }
  context.stdout.write(
    textTable(
      runs.map((run) => [run.runId, stateWord(run.state), ago(run.record.updatedAt, context.now()), run.record.name]),
    ),
  );
  const runsText = runs.length === 1 ? '1 run' : `${runs.length} runs`;
  context.stderr.write(flags.dryRun === true ? `would remove ${runsText}\n` : `removed ${runsText}\n`);
  for (const { path, branch } of kept) {
    context.stderr.write(
      `kept the worktree ${path}, whose branch ${branch} has work that is merged nowhere; to drop it: ` +
        `git worktree remove --force --force ${shellQuote(path)}; git branch -D ${branch}\n`,
    );
  }
}
