import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { createCbcLayout } from '../../cache/layouts/cbc-layout.ts';
import { createClaudeLayout } from '../../cache/layouts/claude-layout.ts';
import { type ForeignLayoutName, projectsDirectory } from '../../cache/layouts/projects-directory.ts';
import type { TranscriptLayout } from '../../cache/layouts/transcript-layout.ts';
import { createRunStore } from '../../cache/run-store.ts';
import { createBackgroundTasks } from '../../emitters/background-tasks.ts';
import { createRedactor } from '../../runtime/redact.ts';
import { findKillSwitch, refuseWhenDisabled } from '../saved-workflows/kill-switch.ts';
import type { BackgroundRun, EndedRun } from './background-run.ts';
import { type BackgroundRunsOptions, createBackgroundRuns } from './background-runs.ts';
import { runStream } from './run-stream.ts';
import {
  type ModelTool,
  type TaskStopped,
  taskStopTool,
  type WorkflowLaunched,
  workflowTool,
} from './workflow-tool.ts';

export interface WorkflowToolOptions
  extends Omit<BackgroundRunsOptions, 'store' | 'cwd' | 'homeDirectory' | 'toolName' | 'onEnd'> {
  /** Where runs and their scripts are kept; made when needed. Runs of `wf` are in `~/.wf`. */
  readonly stateDir: string;
  /** Working directory of the agents, and where saved workflows and relative paths are looked up. @defaultValue the process's */
  readonly cwd?: string;
  /** @defaultValue the user's */
  readonly homeDirectory?: string;
  /** Where the kill switch is looked for (H-5). @defaultValue the process's environment */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Of the stream-json lines. @defaultValue a new UUID */
  readonly sessionId?: string;
  /** Files transcripts also as Claude Code or CodeBuddy does, below the session's id (H-19). @defaultValue not */
  readonly layout?: ForeignLayoutName;
  /** Shows scripts in `task_started` of dialect `claude` (E-8). @defaultValue true */
  readonly includeSource?: boolean;
  /**
   * Takes each stream-json line of every run, without its line feed (E-4 to E-14). `critical` ones must reach a reader; one
   * that `supersedes` makes earlier uncritical ones of its task worthless.
   */
  readonly onStreamLine?: (
    line: string,
    about: { readonly taskId: string; readonly critical: boolean; readonly supersedes: boolean },
  ) => void;
  /** Told once how each run ended, after its last line: `ended.notification` is the message for the model. */
  readonly onNotification?: (ended: EndedRun) => void;
}

/** The Workflow tool of an agent CLI. Made by {@link createWorkflowTool}. */
export interface WorkflowTool extends ModelTool<WorkflowLaunched> {
  /** A second tool, with which the model stops a run: `TaskStop {task_id}`. */
  readonly taskStop: ModelTool<TaskStopped>;
  /** The run of a task or run id; undefined when there is none of this tool. */
  run(taskOrRunId: string): BackgroundRun | undefined;
  /** Stops a run and resolves with its end. @throws USAGE_INVALID for an unknown id, naming those at work */
  stop(taskOrRunId: string, reason?: string): Promise<EndedRun>;
  /** Stops every run, waits for their ends, and closes the backend. Idempotent. */
  close(): Promise<void>;
}

/**
 * Makes a tool with which a model runs workflows in the background, for an agent CLI to register. Source: spec H-1 to H-5.
 *
 * Contract:
 * - Undefined when workflows are switched off here (environment, or settings of the user or project): then there is nothing
 *   to register. A switch that is turned later refuses each call.
 * - `call` resolves at once, when the run is under way, or with what is wrong (`isError`); it never rejects for the input.
 * - Each launch gives its lines to `onStreamLine`, and then its one end to `onNotification`.
 */
export function createWorkflowTool(options: WorkflowToolOptions): WorkflowTool | undefined {
  // The one switch that must work without its host's help: so these are the process's own unless the host says otherwise.
  const { env = process.env, homeDirectory = homedir() } = options;
  const cwd = resolve(options.cwd ?? process.cwd());
  const place = { env, cwd, homeDirectory };
  if (findKillSwitch(place) !== undefined) return undefined;
  const runs = createBackgroundRuns({
    ...options,
    cwd,
    homeDirectory,
    store: createRunStore({
      root: resolve(cwd, options.stateDir),
      redactor: createRedactor(options.secrets ?? []),
      layout: layoutOf(options, place),
    }),
    sinksFor: readersOf(options),
    ...(options.onNotification === undefined ? {} : { onEnd: options.onNotification }),
  });
  return {
    ...workflowTool(runs, () => refuseWhenDisabled(place)),
    taskStop: taskStopTool(runs),
    run: (id) => runs.get(id),
    stop: async (id, reason) => runs.stop(id, reason).ended,
    async close() {
      await runs.close();
      await options.backend.close();
    },
  };
}

function layoutOf(
  { layout, sessionId }: WorkflowToolOptions,
  { env, homeDirectory }: { readonly env: NonNullable<WorkflowToolOptions['env']>; readonly homeDirectory: string },
): TranscriptLayout | undefined {
  if (layout === undefined) return undefined;
  const place = { projectsDirectory: projectsDirectory(layout, env, homeDirectory), sessionId };
  return layout === 'claude' ? createClaudeLayout(place) : createCbcLayout(place);
}

function readersOf(options: WorkflowToolOptions): NonNullable<BackgroundRunsOptions['sinksFor']> {
  const { onStreamLine, dialect = 'claude', includeSource = true, sessionId = randomUUID() } = options;
  const backgroundTasks = createBackgroundTasks();
  return (task) => {
    const own = options.sinksFor?.(task) ?? [];
    if (onStreamLine === undefined) return own;
    const { taskId } = task;
    const write = (line: string, critical: boolean, supersedes: boolean): void =>
      onStreamLine(line, { taskId, critical, supersedes });
    return [...own, runStream(task, { dialect, includeSource, sessionId, backgroundTasks, write })];
  };
}
