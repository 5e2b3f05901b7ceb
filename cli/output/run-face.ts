import { allAgentsDied } from '../../emitters/describe-end.ts';
import type { LiveTree } from '../../emitters/live/live-tree.ts';
import type { Census } from '../../protocol/core-event.ts';
import type { RunOutput } from '../../protocol/run-record.ts';
import type { WorkflowError } from '../../protocol/workflow-error.ts';
import type { EventSink } from '../../runtime/ports.ts';
import type { RunResult } from '../../runtime/run-options.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import type { CliContext } from '../cli-context.ts';
import { errorPage } from '../error-page.ts';
import type { RunFlags } from '../flags/run-flags.ts';
import { printError, wantsStacks } from './print-error.ts';
import { streamTask } from './stream-task.ts';
import { wantsColor } from './wants-color.ts';
import { writeRunOutput } from './write-run-output.ts';

/** What a person and a program see of one launch, in the format that was asked for. Source: spec C-6. */
export interface RunFace {
  readonly sinks: readonly EventSink[];
  /** Shows the end of the run; resolves when its reader has it. */
  showEnd(result: RunResult): Promise<void>;
  /** Shows an end of which the run itself could say nothing. */
  showLoss(output: RunOutput, error: WorkflowError): void;
}

/** The script as the first line of a stream shows it. */
export interface FaceSource {
  readonly scriptText: string | undefined;
  readonly scriptFileName: string | undefined;
  readonly startedByPath: boolean;
}

/** How long the end waits for a slow reader of lines: long, since the last lines say how the run ended, but not for ever. */
const READER_WITHIN_MS = 60_000;

/** Loads the code of the chosen format only. */
export function openRunFace(context: CliContext, flags: RunFlags, source: FaceSource): Promise<RunFace> {
  switch (flags.outputFormat) {
    case 'text':
      return textFace(context, flags);
    case 'json':
      return Promise.resolve(jsonFace(context));
    case 'stream-json':
      return streamFace(context, flags, source);
  }
}

async function textFace(context: CliContext, flags: RunFlags): Promise<RunFace> {
  const { quiet = false } = flags;
  const { createTextEmitter } = await import('../../emitters/text.ts');
  const { stderr, stdout } = context;
  const live = wantsLiveTree(context, flags) ? await openLiveTree(context) : undefined;
  const sink = createTextEmitter({
    write: (text) => stderr.write(text),
    isTty: stderr.isTerminal,
    width: () => stderr.columns ?? 80,
    color: wantsColor(context, stderr),
    quiet,
    clock: live === undefined ? systemClock : undefined,
    omitStarts: live !== undefined,
  });
  return {
    sinks: live === undefined ? [sink] : [live, sink],
    async showEnd({ output, resultJson, error }) {
      live?.end();
      if (error !== undefined && error.code !== 'RUN_CANCELLED') stderr.write(`  docs: ${errorPage(error.code)}\n`);
      if (resultJson === undefined) return;
      const [{ renderResult }, { toTerminalText }] = await Promise.all([
        import('../../emitters/render-result.ts'),
        import('../../emitters/text/terminal-text.ts'),
      ]);
      const text = renderResult(output, resultJson);
      stdout.write(stdout.isTerminal ? toTerminalText(text) : text);
    },
    showLoss(output, error) {
      live?.end();
      showProblem(context, output.resume, error);
    },
  };
}

/** A tree that is redrawn needs a terminal that can, and nobody who asks questions in the midst of it. */
function wantsLiveTree({ env, stderr }: CliContext, { quiet, confirmAbove, yes }: RunFlags): boolean {
  const canRedraw = stderr.isTerminal && stderr.divert !== undefined && env['TERM'] !== 'dumb' && !env['CI'];
  return canRedraw && quiet !== true && (confirmAbove === undefined || yes === true);
}

/** What others write to the terminal meanwhile stands above the tree. */
async function openLiveTree(context: CliContext): Promise<LiveTree> {
  const { stderr } = context;
  const { createLiveTree } = await import('../../emitters/live/live-tree.ts');
  const stream = stderr.stream as NodeJS.WriteStream;
  const tree = createLiveTree({
    terminal: {
      write: (text) => void stream.write(text),
      get columns() {
        return stderr.columns ?? 80;
      },
      get rows() {
        return stream.rows > 0 ? stream.rows : 24;
      },
    },
    clock: systemClock,
    color: wantsColor(context, stderr),
  });
  const end = (): void => {
    tree.end();
    stderr.divert?.(undefined);
  };
  stderr.divert?.((text) => tree.above(text));
  return {
    handle(event) {
      tree.handle(event);
      if (event.type === 'run.finished') end();
    },
    close: async () => end(),
    above: (text) => tree.above(text),
    end,
  };
}

function jsonFace(context: CliContext): RunFace {
  return {
    sinks: [],
    async showEnd({ output, resultJson, error }) {
      showProblem(context, output.resume, error);
      warnOfDeadAgents(context, output.census);
      writeRunOutput(context.stdout, output, resultJson);
    },
    showLoss(output, error) {
      showProblem(context, output.resume, error);
      writeRunOutput(context.stdout, output, undefined);
    },
  };
}

async function streamFace(context: CliContext, flags: RunFlags, source: FaceSource): Promise<RunFace> {
  const [{ createStreamJsonEmitter }, { createLineWriter }] = await Promise.all([
    import('../../emitters/stream-json.ts'),
    import('../../emitters/slow-reader.ts'),
  ]);
  const { dialect, includeSource } = flags;
  const writer = createLineWriter(context.stdout.stream as NodeJS.WriteStream, { closeWithinMs: READER_WITHIN_MS });
  let emitter: EventSink | undefined;
  const sink: EventSink = {
    handle(event) {
      if (event.type === 'run.started') {
        emitter ??= createStreamJsonEmitter({
          ...streamTask(event.data, { dialect, includeSource, ...source }),
          write: (line, critical, supersedes) => writer.write(line, critical, supersedes),
          clock: systemClock,
        });
      }
      emitter?.handle(event);
    },
    // The run does not wait for its reader; the end of the process does.
    close: async () => emitter?.close?.(),
  };
  return {
    sinks: [sink],
    async showEnd({ output, error }) {
      showProblem(context, output.resume, error);
      warnOfDeadAgents(context, output.census);
      await writer.close();
    },
    showLoss: (output, error) => showProblem(context, output.resume, error),
  };
}

function showProblem(context: CliContext, resume: string | undefined, error: WorkflowError | undefined): void {
  if (error === undefined) return;
  printError(context.stderr, error, wantsStacks(context.env));
  if (resume !== undefined) context.stderr.write(`  resume: ${resume}\n`);
}

/** Such a run is completed all the same; in text the first of its last lines says so. */
function warnOfDeadAgents(context: CliContext, census: Census): void {
  if (allAgentsDied(census)) {
    context.stderr.write(
      `warning: no agent gave an answer: all ${census.agents_error} failed; to have such a run fail: --fail-on-agent-error\n`,
    );
  }
}
