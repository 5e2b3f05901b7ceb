import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readEvents } from '../../cache/event-reader.ts';
import { launchEvents } from '../../emitters/launch-events.ts';
import { createLineWriter } from '../../emitters/slow-reader.ts';
import { createStreamJsonEmitter, projectStreamJson } from '../../emitters/stream-json.ts';
import { createTextEmitter } from '../../emitters/text.ts';
import { toFileError } from '../../hosts/saved-workflows/read-text-file.ts';
import type { CoreEvent } from '../../protocol/core-event.ts';
import type { EventSink } from '../../runtime/ports.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import type { CliContext } from '../cli-context.ts';
import type { Dialect, OutputFormat } from '../flags/run-flags.ts';
import { resumeCommand } from '../launch/resume-command.ts';
import { followEvents } from '../output/follow-events.ts';
import { type StreamChoices, streamTask } from '../output/stream-task.ts';
import { wantsColor } from '../output/wants-color.ts';
import { notYet } from '../program/later-features.ts';
import { defaultStateRoot, stateRoot } from '../state/state-root.ts';
import { readNamedRun, readStoredRun, type StoredRun } from '../state/stored-run.ts';

export interface LogsFlags {
  readonly stateDir?: string;
  readonly follow?: boolean;
  readonly all?: boolean;
  readonly last?: boolean;
  readonly outputFormat: OutputFormat | 'workbench';
  readonly dialect: Dialect;
  readonly includeSource?: boolean;
}

/** `wf logs`: prints what a reader of the last launch would have seen, from the stored events. Source: spec E-2, C-5. */
export async function logsCommand(context: CliContext, runId: string | undefined, flags: LogsFlags): Promise<number> {
  if (flags.outputFormat === 'workbench') throw notYet('--output-format workbench', 'Use text, json or stream-json');
  const root = stateRoot(context, flags);
  const run = await readNamedRun(root, { runId, last: flags.last });
  const show = await openShow(context, run, flags);
  const path = join(run.path, 'events.ndjson');
  if (flags.follow === true && run.owner !== undefined) {
    const isOver = async (): Promise<boolean> =>
      context.stdout.closed || (await readStoredRun(root, run.runId)).owner === undefined;
    await follow(path, run, flags, show, isOver);
  } else {
    const events = await storedEvents(path);
    for (const launch of launchesOf(events, flags.all === true)) show.stored(launch);
  }
  await show.end();
  await noteInterrupted(context, root, run.runId, path);
  return 0;
}

/** None of a run that was made and never launched, as a fork may be. */
async function storedEvents(path: string): Promise<readonly CoreEvent[]> {
  const events: CoreEvent[] = [];
  await readEvents(path, (event) => events.push(event)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw toFileError(error, path, 'the log of the run');
  });
  return events;
}

/** A run whose process died has no last line of its own. */
async function noteInterrupted(context: CliContext, root: string, runId: string, path: string): Promise<void> {
  if ((await readStoredRun(root, runId)).state !== 'interrupted') return;
  const resume = resumeCommand({ runId, stateRoot: root, defaultStateRoot: defaultStateRoot(context.homeDirectory) });
  const why = existsSync(path)
    ? 'the run ends here because its process is gone; go on'
    : 'the run has said nothing yet; launch it';
  context.stderr.write(`note: ${why} with: ${resume}\n`);
}

/** Prints events in one format. */
interface Show {
  /** A launch of which all events are known. */
  stored(launch: readonly CoreEvent[]): void;
  /** An event of a launch that may go on. */
  live(event: CoreEvent): void;
  end(): Promise<void>;
}

async function follow(
  path: string,
  run: StoredRun,
  flags: LogsFlags,
  show: Show,
  isOver: () => Promise<boolean>,
): Promise<void> {
  let isShown = flags.all === true;
  for await (const event of followEvents(path, isOver)) {
    if (event.type === 'run.started' && event.data.launch >= run.record.launch) isShown = true;
    if (isShown) show.live(event);
  }
}

function launchesOf(events: readonly CoreEvent[], all: boolean): readonly (readonly CoreEvent[])[] {
  if (!all) return [launchEvents(events)];
  const starts = events.flatMap((event, at) => (event.type === 'run.started' ? [at] : []));
  return starts.map((start, i) => events.slice(start, starts[i + 1]));
}

async function openShow(context: CliContext, run: StoredRun, flags: LogsFlags): Promise<Show> {
  switch (flags.outputFormat) {
    case 'stream-json':
      return streamShow(context, await streamChoices(run, flags));
    case 'json':
      return sinkShow(() => ({ handle: (event) => context.stdout.write(`${JSON.stringify(event)}\n`) }));
    default:
      return sinkShow(() =>
        createTextEmitter({
          write: (text) => context.stdout.write(text),
          isTty: context.stdout.isTerminal,
          width: () => context.stdout.columns ?? 80,
          color: wantsColor(context, context.stdout),
          quiet: false,
        }),
      );
  }
}

async function streamChoices(run: StoredRun, flags: LogsFlags): Promise<StreamChoices> {
  return {
    dialect: flags.dialect,
    includeSource: flags.includeSource,
    scriptText: await readFile(join(run.path, 'script.js'), 'utf8').catch(() => undefined),
    scriptFileName: run.record.scriptFileName,
    startedByPath: run.flags.startedByPath ?? false,
  };
}

/** A sink for each launch, opened with its first event. */
function sinkShow(openSink: () => EventSink): Show {
  let sink: EventSink | undefined;
  const live = (event: CoreEvent): void => {
    if (event.type === 'run.started') sink = openSink();
    sink?.handle(event);
  };
  return { live, stored: (launch) => launch.forEach(live), end: async () => sink?.close?.() };
}

function streamShow(context: CliContext, choices: StreamChoices): Show {
  const writer = createLineWriter(context.stdout.stream as NodeJS.WriteStream, { closeWithinMs: 60_000 });
  const following = sinkShow(() => lazyStreamSink(choices, writer.write));
  return {
    live: following.live,
    stored(launch) {
      const [first] = launch;
      if (first?.type !== 'run.started') return;
      for (const line of projectStreamJson(launch, streamTask(first.data, choices))) context.stdout.write(`${line}\n`);
    },
    async end() {
      await following.end();
      await writer.close();
    },
  };
}

function lazyStreamSink(
  choices: StreamChoices,
  write: (line: string, critical: boolean, supersedes: boolean) => void,
): EventSink {
  let emitter: EventSink | undefined;
  return {
    handle(event) {
      if (event.type === 'run.started') {
        emitter = createStreamJsonEmitter({ ...streamTask(event.data, choices), write, clock: systemClock });
      }
      emitter?.handle(event);
    },
    close: async () => emitter?.close?.(),
  };
}
