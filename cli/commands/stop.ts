import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { CliContext } from '../cli-context.ts';
import { stateWord } from '../output/state-word.ts';
import { stateRoot } from '../state/state-root.ts';
import { readStoredRun, type StoredRun } from '../state/stored-run.ts';

export interface StopFlags {
  readonly stateDir?: string;
  readonly json?: boolean;
}

const POLL_MS = 50;
const WAIT_MS = 10_000;

/**
 * `wf stop`: asks the process that holds a run to stop (SIGTERM), and waits for its end. A run that is over already is
 * no error. The process was told apart from a later one with the same pid by its start time.
 *
 * @throws REPLAY_RUN_LIVE when the run is on another machine, or does not end
 */
export async function stopCommand(context: CliContext, runId: string, flags: StopFlags): Promise<number> {
  const root = stateRoot(context, flags);
  const before = await readStoredRun(root, runId);
  if (before.owner === undefined) {
    report(context, flags, before, `run ${before.runId} is not running (${stateWord(before.state)})`);
    return 0;
  }
  const { pid, host } = before.owner;
  if (host !== hostname()) {
    throw new WorkflowError(
      'REPLAY_RUN_LIVE',
      `run ${before.runId} is held by process ${pid} on ${host}; stop it there`,
    );
  }
  signal(pid);
  const after = await ended(root, before, context);
  report(context, flags, after, `run ${after.runId} has ended: ${stateWord(after.state)}`);
  return 0;
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return; // It has just ended.
    throw new WorkflowError(
      'REPLAY_RUN_LIVE',
      `process ${pid} may not be stopped by this user: ${(error as Error).message}`,
    );
  }
}

async function ended(root: string, before: StoredRun, context: CliContext): Promise<StoredRun> {
  const until = context.now() + WAIT_MS;
  for (;;) {
    const run = await readStoredRun(root, before.runId);
    if (run.owner === undefined || run.owner.pid !== before.owner?.pid) return run;
    if (context.now() > until) {
      throw new WorkflowError(
        'REPLAY_RUN_LIVE',
        `process ${run.owner.pid} was asked to stop run ${run.runId} and has not ended within ${WAIT_MS / 1000} s; ` +
          `kill -9 ${run.owner.pid} ends it, and what its agents finished is kept`,
      );
    }
    await delay(POLL_MS);
  }
}

function report(context: CliContext, flags: StopFlags, run: StoredRun, text: string): void {
  if (flags.json === true) context.stdout.write(`${JSON.stringify({ runId: run.runId, status: run.state })}\n`);
  else context.stderr.write(`${text}\n`);
}
