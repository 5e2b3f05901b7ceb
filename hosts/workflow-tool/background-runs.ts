import { join } from 'node:path';
import { nodeDisk } from '../../cache/disk.ts';
import { resolveRunId } from '../../cache/run-listing.ts';
import { readRunRecord } from '../../cache/run-record-file.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { EventSink } from '../../runtime/ports.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import type { RunHandle, RunLimits, WorkflowOptions } from '../../runtime/run-options.ts';
import { type ParsedScript, parseScript } from '../../runtime/script/parse-script.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { findNestedWorkflow } from '../saved-workflows/find-workflow.ts';
import type { BackgroundRun, EndedRun, LaunchedTask } from './background-run.ts';
import { describeEndedRun, lostRun } from './describe-ended-run.ts';
import { keptScriptsFolder } from './kept-scripts.ts';
import { argsText, type LaunchRequest, type RequestedScript, readRequestedScript } from './launch-request.ts';
import { shellQuote } from './shell-quote.ts';
import { watchLaunch } from './watch-launch.ts';

/** Ended runs that {@link BackgroundRuns.list} still knows. */
const ENDED_RUNS_KEPT = 100;

type PerLaunch = 'cwd' | 'sinks' | 'signal' | 'toolUseId' | 'sandbox' | 'onNotice' | 'findWorkflow';

export interface BackgroundRunsOptions extends Omit<WorkflowOptions, PerLaunch> {
  /** Working directory of the agents of new runs, and where names and relative paths are looked up; absolute. */
  readonly cwd: string;
  readonly homeDirectory: string;
  /** The tool that the notification's recovery call names. @defaultValue Workflow */
  readonly toolName?: string;
  /** Form of task ids. @defaultValue claude */
  readonly dialect?: 'claude' | 'cbc';
  /** Where scripts are kept for editing (H-3); absolute. @defaultValue `workflows/scripts` of the state directory */
  readonly scriptsFolder?: string;
  /**
   * Gives the readers of a launch's events, before its first. A launch that is refused after that has no event; its readers
   * are closed.
   */
  readonly sinksFor?: (task: LaunchedTask) => readonly EventSink[];
  /** Told of each end, once, after the last event. What it throws is dropped. */
  readonly onEnd?: (ended: EndedRun) => void;
}

/** The workflows that a host runs in the background. Made by {@link createBackgroundRuns}. */
export interface BackgroundRuns {
  /**
   * Starts a run, or goes on with one, and returns as soon as it is under way.
   *
   * @throws WorkflowError when nothing was started: SCRIPT_…, FILE_…, WORKFLOW_UNKNOWN, USAGE_INVALID, REPLAY_…,
   * STATE_UNWRITABLE
   */
  launch(request: LaunchRequest): Promise<BackgroundRun>;
  /** The launch of a task id, or the last one of a run id; undefined when there is none here. */
  get(taskOrRunId: string): BackgroundRun | undefined;
  /** In the order of launches; of those that have ended the last hundred. */
  list(): readonly BackgroundRun[];
  /** Stops a run, when it has not ended, and gives it. @throws USAGE_INVALID for an id that is not here, naming those at work */
  stop(taskOrRunId: string, reason?: string): BackgroundRun;
  /** Stops every run and waits for their ends. Later launches are refused. Idempotent. */
  close(): Promise<void>;
}

/**
 * Runs workflows in the background for a host: a tool, a stdio program, an MCP server. Source: spec H-2, H-3.
 *
 * Contract:
 * - Each launch ends in one {@link EndedRun}, whatever happens to it, and `onEnd` is told once.
 * - The script of a new run is kept in {@link BackgroundRunsOptions.scriptsFolder} unless a file was named; a resume goes on
 *   with the run's own script when none is named.
 * - A run that is at work here is not resumed.
 */
export function createBackgroundRuns(options: BackgroundRunsOptions): BackgroundRuns {
  const runs = new Map<string, BackgroundRun>();
  let isClosed = false;
  const get = (id: string): BackgroundRun | undefined =>
    runs.get(id) ?? [...runs.values()].findLast((run) => run.runId === id);
  const launching = new Set<Promise<unknown>>();

  async function launch(request: LaunchRequest): Promise<BackgroundRun> {
    if (isClosed) throw new WorkflowError('USAGE_INVALID', 'the host is ending, so no workflow is started any more');
    refuseLiveRun(request.resumeFromRunId === undefined ? undefined : get(request.resumeFromRunId));
    const launched = launchOne(options, request);
    launching.add(launched);
    try {
      const run = await launched;
      forgetOldest(runs);
      runs.set(run.taskId, run);
      void run.ended.then((ended) => tellQuietly(options.onEnd, ended));
      if (isClosed) run.stop('the host ended');
      return run;
    } finally {
      launching.delete(launched);
    }
  }

  function stop(id: string, reason?: string): BackgroundRun {
    const run = get(id);
    if (run === undefined) throw unknownTask(id, [...runs.values()]);
    run.stop(reason);
    return run;
  }

  async function close(): Promise<void> {
    isClosed = true;
    await Promise.allSettled(launching);
    for (const run of runs.values()) run.stop('the host ended');
    await Promise.all([...runs.values()].map((run) => run.ended));
  }

  return { launch, get, list: () => [...runs.values()], stop, close };
}

async function launchOne(options: BackgroundRunsOptions, request: LaunchRequest): Promise<BackgroundRun> {
  const { resumeFromRunId, toolUseId } = request;
  const { store, dialect = 'claude', sinksFor = () => [] } = options;
  const argsJson = argsText(request.args);
  const [requested, record] = await Promise.all([
    readRequestedScript(request, options),
    resumeFromRunId === undefined ? undefined : readRecord(store.root, resumeFromRunId),
  ]);
  const script = requested === undefined ? undefined : { requested, parsed: parseRequested(requested) };
  const startedByPath = requested === undefined ? record?.options['startedByPath'] === true : requested.by === 'path';
  const folder = options.scriptsFolder ?? keptScriptsFolder(store.root);
  const watched = watchLaunch({ store, folder, script, startedByPath, toolUseId, dialect, sinksFor });
  const notices: string[] = [];
  const limits = limitsOf(options, request, record);
  const given: WorkflowOptions = {
    ...options,
    store: watched.store,
    limits,
    resumeCommand: options.resumeCommand ?? ((runId) => shellResume(runId, store.root)),
    storedOptions: { ...options.storedOptions, limits, startedByPath },
    findWorkflow: (ref, callerDirectory) => findNestedWorkflow(ref, callerDirectory, options),
    onNotice: (text) => void notices.push(text),
    ...(toolUseId === undefined ? {} : { toolUseId }),
  };
  const handle = await begin(given, requested, { folder, argsJson, runId: record?.runId });
  return follow(options, handle, watched.task(), notices);
}

/** @throws SCRIPT_… before anything is opened */
function parseRequested({ text, fileName = 'script.js' }: RequestedScript): ParsedScript {
  return parseScript(text, { fileName });
}

async function begin(
  given: WorkflowOptions,
  script: RequestedScript | undefined,
  { folder, argsJson, runId }: { folder: string; argsJson: string | undefined; runId: string | undefined },
): Promise<RunHandle> {
  const source = script === undefined ? {} : authorsFile(script, folder);
  const args = argsJson === undefined ? {} : { argsJson };
  if (runId !== undefined) {
    // A stored run keeps its own working directory.
    const { cwd: _cwd, ...kept } = given;
    return resumeWorkflow({
      ...kept,
      runId,
      ...(script === undefined ? {} : { script: script.text }),
      ...source,
      ...args,
    });
  }
  return startWorkflow({ ...given, script: script?.text ?? '', ...source, ...args });
}

/** A kept copy stands for its original: relative paths in it do not go from the folder of copies. */
function authorsFile(
  { path, fileName }: RequestedScript,
  folder: string,
): { readonly fileName?: string; readonly scriptPath?: string } {
  if (path === undefined || fileName === undefined) return {};
  return path.startsWith(join(folder, '/')) ? { fileName } : { fileName, scriptPath: path };
}

async function readRecord(root: string, runId: string): Promise<RunRecord> {
  const found = await resolveRunId(root, runId);
  return readRunRecord(nodeDisk, join(root, 'runs', found));
}

/** A budget that was given for a run stands until another is. */
function limitsOf(
  { limits }: BackgroundRunsOptions,
  { budget }: LaunchRequest,
  record: RunRecord | undefined,
): Partial<RunLimits> {
  const stored = (record?.options['limits'] as { budget?: unknown } | undefined)?.budget;
  const known = budget ?? (typeof stored === 'number' ? stored : undefined);
  return known === undefined ? { ...limits } : { ...limits, budget: known };
}

function follow(
  options: BackgroundRunsOptions,
  handle: RunHandle,
  task: LaunchedTask,
  notices: readonly string[],
): BackgroundRun {
  let status: BackgroundRun['status'] = 'running';
  const ended = handle.done
    .catch((error: unknown) => lostRun(task, handle.directory, error))
    .then((result) => {
      const end = describeEndedRun(task, result, { toolName: options.toolName ?? 'Workflow', notices });
      status = end.status;
      return end;
    });
  return {
    ...task,
    get status() {
      return status;
    },
    startedAt: (options.clock ?? systemClock).now(),
    ended,
    stop: (reason) => handle.stop(reason),
  };
}

function refuseLiveRun(run: BackgroundRun | undefined): void {
  if (run?.status !== 'running') return;
  throw new WorkflowError(
    'REPLAY_RUN_LIVE',
    `the run ${run.runId} is still at work as task ${run.taskId}; wait for its notification, or stop that task first`,
    { data: { runId: run.runId, taskId: run.taskId } },
  );
}

function unknownTask(id: string, runs: readonly BackgroundRun[]): WorkflowError {
  const atWork = runs.filter((run) => run.status === 'running').map((run) => run.taskId);
  const known = atWork.length === 0 ? 'no workflow is at work' : `at work are: ${atWork.slice(0, 20).join(', ')}`;
  return new WorkflowError(
    'USAGE_INVALID',
    `there is no workflow task ${JSON.stringify(id.slice(0, 100))} here; ${known}`,
    {
      data: { atWork },
    },
  );
}

function forgetOldest(runs: Map<string, BackgroundRun>): void {
  const ended = [...runs.values()].filter((run) => run.status !== 'running');
  for (const run of ended.slice(0, Math.max(0, ended.length - ENDED_RUNS_KEPT + 1))) runs.delete(run.taskId);
}

function tellQuietly(onEnd: BackgroundRunsOptions['onEnd'], ended: EndedRun): void {
  try {
    onEnd?.(ended);
  } catch {
    // The run is over, and a host's own fault is no part of it.
  }
}

function shellResume(runId: string, root: string): string {
  return ['wf', 'resume', runId, '--state-dir', root].map(shellQuote).join(' ');
}
