import { join } from 'node:path';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { EventSink, RunDirectory, RunStore } from '../../runtime/ports.ts';
import type { ParsedScript } from '../../runtime/script/parse-script.ts';
import type { LaunchedTask } from './background-run.ts';
import { findKeptScript, keepScript } from './kept-scripts.ts';
import type { RequestedScript } from './launch-request.ts';
import { taskId } from './task-id.ts';

export interface WatchLaunchOptions {
  readonly store: RunStore;
  /** Where scripts are kept. */
  readonly folder: string;
  /** The script that was named; undefined on a resume under the run's own. */
  readonly script: { readonly requested: RequestedScript; readonly parsed: ParsedScript } | undefined;
  readonly startedByPath: boolean;
  readonly toolUseId: string | undefined;
  readonly dialect: 'claude' | 'cbc';
  readonly sinksFor: (task: LaunchedTask) => readonly EventSink[];
}

export interface WatchedLaunch {
  /** To launch with, once. */
  readonly store: RunStore;
  /** What the launch became; only after the store has made or opened its run. */
  task(): LaunchedTask;
}

/**
 * Stands between one launch and the store: as soon as the run has an id, and before it runs, its script is kept and its
 * readers are added.
 */
export function watchLaunch(options: WatchLaunchOptions): WatchedLaunch {
  const { store } = options;
  let task: LaunchedTask | undefined;
  const prepare = async (directory: RunDirectory, launch: number): Promise<RunDirectory> => {
    try {
      task = await describeTask(options, directory, launch);
      for (const sink of options.sinksFor(task)) directory.events.addSink(sink);
      return directory;
    } catch (error) {
      await directory.close();
      throw error;
    }
  };
  return {
    store: {
      root: store.root,
      create: async (init) => prepare(await store.create(init), 1),
      open: async (runId, how) => {
        const directory = await store.open(runId, how);
        return prepare(directory, directory.record.launch + 1);
      },
    },
    task() {
      if (task === undefined) throw new WorkflowError('INTERNAL_INVARIANT', 'a launch succeeded without a run');
      return task;
    },
  };
}

async function describeTask(
  options: WatchLaunchOptions,
  directory: RunDirectory,
  launch: number,
): Promise<LaunchedTask> {
  const { script, dialect, toolUseId, startedByPath } = options;
  const { runId, record } = directory;
  return {
    taskId: taskId(dialect, runId, launch),
    runId,
    launch,
    toolUseId,
    workflowName: script?.parsed.meta.name ?? record.name,
    summary: script?.parsed.meta.description ?? record.description,
    transcriptDir: join(directory.path, 'agents'),
    scriptPath: await editablePath(options, directory),
    scriptText: script?.parsed.source ?? directory.scriptText,
    scriptFileName: script?.parsed.fileName ?? record.scriptFileName,
    startedByPath,
  };
}

/**
 * The file to edit for the next launch: the one that was named by its path; else the copy that is kept for this run. A copy
 * that is there already may hold edits, so only a script that was named anew replaces it.
 */
async function editablePath({ folder, script }: WatchLaunchOptions, directory: RunDirectory): Promise<string> {
  const { runId, record } = directory;
  if (script?.requested.by === 'path' && script.requested.path !== undefined) return script.requested.path;
  if (script !== undefined) {
    const { meta, source, fileName } = script.parsed;
    return keepScript(folder, { name: meta.name, runId, text: source, fileName });
  }
  return (
    (await findKeptScript(folder, runId)) ??
    (record.options['startedByPath'] === true ? record.scriptPath : undefined) ??
    keepScript(folder, { name: record.name, runId, text: directory.scriptText, fileName: record.scriptFileName })
  );
}
