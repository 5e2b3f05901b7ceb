import type { CoreEvent, CoreEventData } from '../protocol/core-event.ts';
import { preview } from '../protocol/preview.ts';
import type { StreamJsonDialect } from '../protocol/stream-json.ts';
import { WorkflowError } from '../protocol/workflow-error.ts';
import type { Clock, EventSink, TimerHandle } from '../runtime/ports.ts';
import { type BackgroundTasks, createBackgroundTasks } from './background-tasks.ts';
import { describeEnd } from './describe-end.ts';
import { launchEvents } from './launch-events.ts';
import { SMALL_RUN_AGENTS } from './stream-json/agent-row.ts';
import { createProgressBudget, type LineSizes, type ProgressBudget } from './stream-json/progress-budget.ts';
import { createProgressSchedule, longestWaitMs, type ProgressSchedule } from './stream-json/progress-schedule.ts';
import { createSnapshotBoard, type SnapshotBoard } from './stream-json/snapshot-board.ts';
import { createTaskLines, type ProgressHead, streamUsage, type TaskLines } from './stream-json/task-lines.ts';

const NAME_CHARACTERS = 200;
const FULL_DESCRIPTION_CHARACTERS = 2000;
/** Characters of the workflow's description in a progress line; `task_started` has more of it. */
const DESCRIPTION_CHARACTERS = 60;
const ERROR_CHARACTERS = 400;

/** A live line that is due waits a little longer for events of its time that are still on their way to the disk. */
const LATE_EVENTS_MS = 25;

export interface StreamJsonOptions {
  readonly dialect: StreamJsonDialect;
  /** Any text in dialect `claude`, a UUID in `cbc`. */
  readonly taskId: string;
  readonly sessionId: string;
  /** @defaultValue that of `run.started` */
  readonly toolUseId?: string | undefined;
  /** Puts the script into `task_started` in dialect `claude`. `cbc` never has it (E-8). */
  readonly includeSource: boolean;
  readonly scriptText?: string | undefined;
  readonly scriptFileName?: string | undefined;
  /** The run was started by the path of its script, which `cbc` shows as the workflow's name. */
  readonly startedByPath?: boolean | undefined;
  /** Workflows of the same session. @defaultValue this one alone */
  readonly backgroundTasks?: BackgroundTasks | undefined;
}

export interface StreamJsonEmitterOptions extends StreamJsonOptions {
  /**
   * Takes a line without its line feed. `critical` lines must reach the reader, in order; of the others a slow reader may
   * miss any, and one that `supersedes` makes those before it worthless.
   */
  write(line: string, critical: boolean, supersedes: boolean): void;
  /** Shows changes after which no event comes. Without it, call `tick`. */
  readonly clock?: Clock | undefined;
}

export interface StreamJsonEmitter extends EventSink {
  close(): Promise<void>;
  /** Writes what was due before `nowMs`. */
  tick(nowMs: number): void;
}

/**
 * Projects core events to stream-json lines (E-4 to E-14).
 *
 * Contract:
 * - A pure function of events and options: time comes from the events, and the clock only says when to look. A replay
 *   ({@link projectStreamJson}) gives the same lines.
 * - One task: a second `run.started`, and whatever follows `run.finished`, is ignored.
 * - Before `completed` or `failed` a snapshot has every agent in a final state (E-10); after `killed` and the notification
 *   one late snapshot does (E-11). Both are critical.
 * - Taking an event costs constant time; how progress lines are spaced is told in `progress-budget.ts`.
 */
export function createStreamJsonEmitter(options: StreamJsonEmitterOptions): StreamJsonEmitter {
  let task: StreamTask | undefined;
  let timer: TimerHandle | undefined;

  const arm = (): void => {
    timer?.cancel();
    timer = undefined;
    const { clock } = options;
    if (clock === undefined || task?.dueAtMs === undefined) return;
    const delayMs = Math.max(0, task.dueAtMs - clock.now()) + LATE_EVENTS_MS;
    timer = clock.after(delayMs, () => {
      task?.tick(clock.now());
      arm();
    });
  };

  return {
    handle(event) {
      const dueBefore = task?.dueAtMs;
      if (event.type === 'run.started') task ??= startTask(options, event.data, event.at);
      else task?.handle(event);
      if (task?.dueAtMs !== dueBefore) arm();
    },
    tick(nowMs) {
      task?.tick(nowMs);
      arm();
    },
    async close() {
      timer?.cancel();
    },
  };
}

/**
 * Gives the lines that a reader of the last launch in a log would have seen (E-2).
 *
 * @throws INTERNAL_INVARIANT as the emitter does
 */
export function projectStreamJson(events: readonly CoreEvent[], options: StreamJsonOptions): string[] {
  const lines: string[] = [];
  const emitter = createStreamJsonEmitter({ ...options, write: (line) => void lines.push(line) });
  const launch = launchEvents(events);
  for (const event of launch) emitter.handle(event);
  const last = launch.at(-1);
  // A launch that died without an end: its reader saw what was due after the last event.
  if (last !== undefined && last.type !== 'run.finished') emitter.tick(Number.POSITIVE_INFINITY);
  return lines;
}

interface StreamTask {
  handle(event: CoreEvent): void;
  tick(nowMs: number): void;
  readonly dueAtMs: number | undefined;
}

function startTask(
  options: StreamJsonEmitterOptions,
  started: CoreEventData<'run.started'>,
  startedAtMs: number,
): StreamTask {
  const { workflow } = started;
  const parts: TaskParts = {
    options,
    started,
    startedAtMs,
    lines: createTaskLines({
      taskId: options.taskId,
      sessionId: options.sessionId,
      toolUseId: options.toolUseId ?? started.toolUseId,
      launch: started.launch,
    }),
    board: createSnapshotBoard(
      options.dialect,
      workflow.phases.map(({ title }) => title),
    ),
    budget: createProgressBudget(),
    schedule: createProgressSchedule(startedAtMs),
    backgroundTasks: options.backgroundTasks ?? createBackgroundTasks(),
  };
  announce(parts);
  let ended = false;
  const tick = (nowMs: number): void => {
    // Strictly before: events of the very moment still belong into the line.
    for (let due = dueAt(parts); !ended && due !== undefined && due < nowMs; due = dueAt(parts)) writeDue(parts, due);
  };
  return {
    handle(event) {
      if (ended) return;
      tick(event.at);
      if (event.type === 'run.finished') {
        ended = true;
        finish(parts, event.data, event.at);
        return;
      }
      const change = parts.board.apply(event);
      if (change !== 'none') parts.schedule.changed(change, event.at, parts.board.agentCount);
    },
    tick,
    get dueAtMs() {
      return ended ? undefined : dueAt(parts);
    },
  };
}

interface TaskParts {
  readonly options: StreamJsonEmitterOptions;
  readonly started: CoreEventData<'run.started'>;
  readonly startedAtMs: number;
  readonly lines: TaskLines;
  readonly board: SnapshotBoard;
  readonly budget: ProgressBudget;
  readonly schedule: ProgressSchedule;
  readonly backgroundTasks: BackgroundTasks;
}

function announce({ options, started, lines, backgroundTasks }: TaskParts): void {
  const { name, description } = started.workflow;
  const byPath = options.dialect === 'cbc' && options.startedByPath === true && options.scriptFileName !== undefined;
  const withSource = options.dialect === 'claude' && options.includeSource && options.scriptText !== undefined;
  options.write(
    lines.started({
      workflow_name: preview(byPath ? `path:${options.scriptFileName}` : name, NAME_CHARACTERS),
      description: preview(description, FULL_DESCRIPTION_CHARACTERS),
      ...(withSource ? { prompt: options.scriptText?.toWellFormed() ?? '' } : {}),
      ...(started.simulated ? { simulated: true } : {}),
    }),
    true,
    false,
  );
  if (options.dialect !== 'claude') return;
  backgroundTasks.add({
    task_id: options.taskId,
    task_type: 'local_workflow',
    description: preview(description),
  });
  options.write(lines.backgroundTasks(backgroundTasks.list()), true, false);
}

/** The next moment with something to do: a line, or the end of a cancelled agent's time aside. */
function dueAt({ board, schedule }: TaskParts): number | undefined {
  const cancelledAtMs = board.oldestCancelledAtMs();
  if (cancelledAtMs === undefined) return schedule.dueAtMs;
  const releaseAtMs = cancelledAtMs + longestWaitMs(board.agentCount);
  return schedule.dueAtMs === undefined ? releaseAtMs : Math.min(schedule.dueAtMs, releaseAtMs);
}

function writeDue(parts: TaskParts, atMs: number): void {
  const { board, schedule, budget, options } = parts;
  board.releaseCancelled(atMs - longestWaitMs(board.agentCount));
  if (!board.hasChanges) {
    schedule.settled(undefined);
    return;
  }
  const { sizes, head } = measure(parts, atMs);
  const choice = budget.choose(sizes);
  if (choice === 'wait') {
    schedule.settled(undefined);
    return;
  }
  const line =
    choice === 'snapshot'
      ? snapshotLine(parts, head, sizes.agentCount <= SMALL_RUN_AGENTS)
      : parts.lines.end(parts.lines.progress(head, 'workflow_changes', board.changes()));
  budget.spend(choice, Buffer.byteLength(line) + 1, sizes);
  board.written();
  schedule.settled(atMs);
  options.write(line, false, choice === 'snapshot');
}

function measure(parts: TaskParts, atMs: number): { readonly sizes: LineSizes; readonly head: ProgressHead } {
  const { board, lines } = parts;
  const head = progressHead(parts, atMs);
  const items = board.render();
  const emptySnapshot = Buffer.byteLength(lines.progress(head, 'workflow_progress', [])) + lines.endBytes;
  const changes = board.changes().reduce((sum, item) => sum + Buffer.byteLength(item) + 1, 0);
  return {
    head,
    sizes: {
      snapshot: emptySnapshot + (board.agentCount <= SMALL_RUN_AGENTS ? items.rich : items.lean),
      changes: emptySnapshot + changes,
      emptyChanges: emptySnapshot,
      floor: items.floor + Buffer.byteLength(lines.progress(floorHead(head), 'workflow_progress', [])) + lines.endBytes,
      agentCount: board.agentCount,
      stateChangesWaiting: board.stateChangesWaiting,
      stateChangesToCome: board.stateChangesToCome,
    },
  };
}

/** The part of a head that the last snapshot will have at least. */
function floorHead({ description, run_id, usage }: ProgressHead): ProgressHead {
  const { cost_usd: _cost, ...counts } = usage; // its text may get shorter
  return { description, usage: counts, ...(run_id === undefined ? {} : { run_id }) };
}

function progressHead({ board, started, startedAtMs, options }: TaskParts, atMs: number): ProgressHead {
  const head = {
    description: preview(started.workflow.description, DESCRIPTION_CHARACTERS),
    usage: {
      total_tokens: board.totalTokens,
      tool_uses: board.toolUses,
      duration_ms: Math.max(0, Math.round(atMs - startedAtMs)),
      ...(started.pricesAsOf === undefined ? {} : { cost_usd: board.costUsd }),
    },
  };
  if (options.dialect === 'cbc') return head;
  return {
    ...head,
    run_id: started.runId,
    ...(board.lastToolName === undefined ? {} : { last_tool_name: board.lastToolName }),
    summary: `${board.finishedAgents} of ${board.agentCount} agents ended`,
  };
}

function snapshotLine({ lines, board }: TaskParts, head: ProgressHead, withPreviews: boolean): string {
  return lines.end(lines.progress(head, 'workflow_progress', board.snapshot(withPreviews)));
}

function finish(parts: TaskParts, finished: CoreEventData<'run.finished'>, atMs: number): void {
  const { options, lines, started, backgroundTasks } = parts;
  const killed = finished.status === 'killed';
  if (!killed) writeLastSnapshot(parts, finished, atMs);
  options.write(lines.updated(finalPatch(finished, atMs)), true, false);
  options.write(
    lines.notification({
      status: finished.status === 'killed' ? 'stopped' : finished.status,
      summary: describeEnd(started.workflow.name, finished, started.simulated),
      output_file: finished.outputFile,
      usage: streamUsage(finished.usage),
      census: finished.census,
      ...(finished.costs === undefined ? {} : { costs: finished.costs }),
      ...(started.simulated ? { simulated: true } : {}),
    }),
    true,
    false,
  );
  if (killed) writeLastSnapshot(parts, finished, atMs);
  if (options.dialect !== 'claude') return;
  backgroundTasks.remove(options.taskId);
  options.write(lines.backgroundTasks(backgroundTasks.list()), true, false);
}

function finalPatch({ status, error }: CoreEventData<'run.finished'>, atMs: number) {
  return {
    status,
    end_time: atMs,
    ...(error === undefined ? {} : { error: `${preview(error.message, ERROR_CHARACTERS)} [${error.code}]` }),
  };
}

function writeLastSnapshot(parts: TaskParts, { status, error }: CoreEventData<'run.finished'>, atMs: number): void {
  const { board, options } = parts;
  if (status === 'killed') board.endAll(atMs, 'stopped', error?.message ?? 'the run was stopped');
  else board.endAll(atMs, 'completed', 'the run ended before this agent did');
  if (board.openAgents > 0) {
    throw new WorkflowError(
      'INTERNAL_INVARIANT',
      `${board.openAgents} agents had no final state when the run ended. Please report this with the run's events.ndjson.`,
    );
  }
  board.render();
  options.write(snapshotLine(parts, progressHead(parts, atMs), true), true, true);
  board.written();
}
