import { createRequire } from 'node:module';
import type {
  StreamJsonLine,
  StreamUsage,
  TaskNotification,
  TaskProgress,
  TaskUpdated,
  WorkflowAgent,
  WorkflowPhase,
} from '../protocol/stream-json.ts';

const require = createRequire(import.meta.url);

/** How long after the notification late progress still counts. Source: spec E-11, E-15. */
const GRACE_MS = 5000;

/** One task as its lines tell it. A new object after every line that changed it. */
export interface TrackedTask {
  readonly taskId: string;
  readonly toolUseId: string | undefined;
  readonly workflowName: string | undefined;
  readonly description: string;
  /** `running` until a `task_updated` says otherwise. */
  readonly status: TaskUpdated['patch']['status'];
  readonly endTime: number | undefined;
  readonly error: string | undefined;
  readonly usage: StreamUsage | undefined;
  readonly summary: string | undefined;
  readonly phases: readonly WorkflowPhase[];
  /** By index. */
  readonly agents: readonly WorkflowAgent[];
  /** The first notification; others are ignored. */
  readonly notification: TaskNotification | undefined;
  /** Epoch ms at which the notification came. */
  readonly notifiedAtMs: number | undefined;
}

export interface TaskTrackerOptions {
  /** @defaultValue 5000 */
  readonly graceMs?: number;
}

/**
 * The consumer's half of stream-json: follows the lines of any number of tasks (E-15).
 *
 * Contract:
 * - A snapshot replaces the last one; a progress line without `workflow_progress` keeps it and applies `workflow_changes`.
 * - The first notification of a task is latched. Late progress is taken for `graceMs` after it, then nothing changes the
 *   task any more.
 * - Lines that are no JSON, of another type or of an unknown shape are ignored (E-12). Nothing here throws.
 */
export class TaskTracker {
  readonly #tasks = new Map<string, TrackedTask>();
  readonly #graceMs: number;

  constructor(options: TaskTrackerOptions = {}) {
    this.#graceMs = options.graceMs ?? GRACE_MS;
  }

  /**
   * Takes one line, as text or parsed, that was received at `nowMs` (epoch). Gives the task if the line changed it.
   */
  accept(line: unknown, nowMs: number): TrackedTask | undefined {
    const known = readLine(line);
    if (known === undefined || known.subtype === 'background_tasks_changed') return undefined;
    const before = this.#tasks.get(known.task_id) ?? newTask(known.task_id);
    if (this.#isOver(before, nowMs)) return undefined;
    const after = applyLine({ ...before, toolUseId: known.tool_use_id ?? before.toolUseId }, known, nowMs);
    if (after === undefined) return undefined;
    this.#tasks.set(known.task_id, after);
    return after;
  }

  task(taskId: string): TrackedTask | undefined {
    return this.#tasks.get(taskId);
  }

  tasks(): readonly TrackedTask[] {
    return [...this.#tasks.values()];
  }

  /** Tells whether a task was notified and its grace is over, so that it will not change again. */
  isSettled(taskId: string, nowMs: number): boolean {
    const task = this.#tasks.get(taskId);
    return task !== undefined && this.#isOver(task, nowMs);
  }

  #isOver({ notifiedAtMs }: TrackedTask, nowMs: number): boolean {
    return notifiedAtMs !== undefined && nowMs - notifiedAtMs > this.#graceMs;
  }
}

function readLine(line: unknown): StreamJsonLine | undefined {
  const value = typeof line === 'string' ? parse(line) : line;
  const read = schemas().streamJsonLineSchema.safeParse(value);
  return read.success ? read.data : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function newTask(taskId: string): TrackedTask {
  return {
    taskId,
    toolUseId: undefined,
    workflowName: undefined,
    description: '',
    status: 'running',
    endTime: undefined,
    error: undefined,
    usage: undefined,
    summary: undefined,
    phases: [],
    agents: [],
    notification: undefined,
    notifiedAtMs: undefined,
  };
}

type TaskLine = Exclude<StreamJsonLine, { subtype: 'background_tasks_changed' }>;

function applyLine(task: TrackedTask, line: TaskLine, nowMs: number): TrackedTask | undefined {
  switch (line.subtype) {
    case 'task_started':
      return { ...task, workflowName: line.workflow_name, description: line.description };
    case 'task_progress':
      return applyProgress(task, line);
    case 'task_updated': {
      const { status, end_time, error } = line.patch;
      return { ...task, status, endTime: end_time ?? task.endTime, error: error ?? task.error };
    }
    case 'task_notification':
      if (task.notification !== undefined) return undefined;
      return { ...task, notification: line, notifiedAtMs: nowMs, usage: line.usage, summary: line.summary };
    default:
      return line satisfies never;
  }
}

function applyProgress(task: TrackedTask, line: TaskProgress): TrackedTask {
  const late = task.notification !== undefined;
  const next = {
    ...task,
    description: task.description === '' ? line.description : task.description,
    usage: late ? task.usage : line.usage,
    summary: late ? task.summary : (line.summary ?? task.summary),
  };
  if (line.workflow_progress !== undefined) return { ...next, ...place([], [], line.workflow_progress) };
  return { ...next, ...place(task.phases, task.agents, line.workflow_changes ?? []) };
}

/** Merges items by index; a change of an agent that no line has introduced is left out. */
function place(
  oldPhases: readonly WorkflowPhase[],
  oldAgents: readonly WorkflowAgent[],
  items: NonNullable<TaskProgress['workflow_changes']>,
): Pick<TrackedTask, 'phases' | 'agents'> {
  const phases = new Map(oldPhases.map((phase) => [phase.index, phase]));
  const agents = new Map(oldAgents.map((agent) => [agent.index, agent]));
  for (const item of items) {
    if (item.type === 'workflow_phase') {
      phases.set(item.index, item);
      continue;
    }
    const merged = schemas().workflowAgentSchema.safeParse({ ...agents.get(item.index), ...item });
    if (merged.success) agents.set(item.index, merged.data);
  }
  return { phases: byIndex(phases.values()), agents: byIndex(agents.values()) };
}

function byIndex<T extends { readonly index: number }>(items: Iterable<T>): T[] {
  return [...items].sort((a, b) => a.index - b.index);
}

/** Their library takes a while to load, so a program that reads no lines never loads it. */
function schemas(): typeof import('../protocol/stream-json.ts') {
  return require('../protocol/stream-json.ts') as typeof import('../protocol/stream-json.ts');
}
