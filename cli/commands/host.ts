import { text as readText } from 'node:stream/consumers';
import { createLineWriter, type LineWriter } from '../../emitters/slow-reader.ts';
import { serveStdio } from '../../hosts/stdio/serve-stdio.ts';
import { parseSlashCommand } from '../../hosts/stdio/slash-command.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOfError, exitCodeOfSignal } from '../exit-code.ts';
import { listenForStop, type StopSignals } from '../launch/stop-signals.ts';
import type { HostFlags } from '../program/host-program.ts';
import { type OpenHost, openHost } from '../session/open-host.ts';

/** A client that stops reading for a while still gets the last lines, but does not keep the process for ever. */
const READER_WITHIN_MS = 150_000;
/** A stopped host is gone within two seconds (H-8), whatever its client and its runs do. */
const STOPPED_WITHIN_MS = 1_500;

type Result = Readonly<Record<string, unknown>>;

/** `wf -p …` and `wf --input-format stream-json`: talks with a person or a program until there is nothing left to say. */
export async function hostCommand(context: CliContext, prompt: string, flags: HostFlags): Promise<number> {
  const stop = listenForStop(context, () => {}, STOPPED_WITHIN_MS);
  const seen: { result?: Result } = {};
  try {
    refuseMixedFormats(flags);
    const asked = flags.inputFormat === 'text' ? await promptOf(prompt, context) : undefined;
    if (asked === undefined) tellPerson(context);
    const writer = flags.outputFormat === 'stream-json' ? createWriter(context) : undefined;
    const host = await openHost(context, flags, {
      write: (line, critical, supersedes) => writer?.write(line, critical, supersedes),
      onResult: (line) => {
        seen.result = line;
      },
    });
    await Promise.race([talk(host, asked, context, stop), stop.overdue]);
    await Promise.race([host.close(), stop.overdue]);
    if (asked !== undefined) printResult(context, flags, seen.result);
    await Promise.race([writer?.close(), stop.overdue]);
    return leave(context, stop, asked === undefined ? 0 : exitCodeOfPrompt(asked, seen.result, host));
  } finally {
    stop.dispose();
  }
}

function refuseMixedFormats({ inputFormat, outputFormat }: HostFlags): void {
  if (inputFormat === 'text' || outputFormat === 'stream-json') return;
  throw new WorkflowError(
    'USAGE_INVALID',
    `--input-format stream-json goes with --output-format stream-json, not with ${outputFormat}`,
  );
}

async function promptOf(prompt: string, { stdin }: CliContext): Promise<string> {
  if (prompt.trim() !== '') return prompt;
  const isTerminal = (stdin as { isTTY?: boolean }).isTTY === true;
  const text = isTerminal ? '' : await readText(stdin);
  if (text.trim() !== '') return text;
  throw new WorkflowError('USAGE_INVALID', `there is no prompt; give one, as in wf -p '/name args', or on stdin`);
}

/** Nothing is written before something was read, so a person who starts it would wait in vain. */
function tellPerson({ stdin, stderr }: CliContext): void {
  if ((stdin as { isTTY?: boolean }).isTTY !== true) return;
  stderr.write(
    "note: wf reads stream-json lines from stdin, for an SDK to start it; for one prompt: wf -p 'your prompt'\n",
  );
}

function createWriter({ stdout }: CliContext): LineWriter {
  return createLineWriter(stdout.stream as NodeJS.WriteStream, { closeWithinMs: READER_WITHIN_MS });
}

/** Ends when everything that was asked for is over. A signal ends all of it. */
async function talk(
  host: OpenHost,
  asked: string | undefined,
  { stdin }: CliContext,
  stop: StopSignals,
): Promise<void> {
  const shutDown = (): void => host.session.shutDown();
  stop.signal.addEventListener('abort', shutDown, { once: true });
  if (asked === undefined) void serveStdio({ ...host, input: stdin, onSkipped: host.note });
  else {
    host.session.submit({ type: 'user', message: { role: 'user', content: asked } });
    host.prompts.close();
    host.session.endInput();
  }
  if (stop.signal.aborted) shutDown();
  await host.session.done;
}

/** The last result says how it all ended: that of a workflow, where one was started. */
function printResult({ stdout }: CliContext, { outputFormat }: HostFlags, result: Result | undefined): void {
  if (result === undefined) return;
  if (outputFormat === 'json') stdout.write(`${JSON.stringify(result)}\n`);
  if (outputFormat === 'text') {
    const { result: text, errors } = result as { readonly result?: string; readonly errors?: readonly string[] };
    const said = text ?? errors?.join('\n') ?? '';
    stdout.write(said.endsWith('\n') ? said : `${said}\n`);
  }
}

/** A prompt that names a workflow ends as `wf run` does where workflows are switched off. */
function exitCodeOfPrompt(asked: string, result: Result | undefined, { switchedOffBy }: OpenHost): number {
  if (result?.['is_error'] !== true) return 0;
  const isRefused = switchedOffBy !== undefined && parseSlashCommand(asked) !== undefined;
  return isRefused ? exitCodeOfError('WORKFLOWS_DISABLED') : 1;
}

/** Nothing waits for a client that does not read any more. */
function leave(context: CliContext, { received }: StopSignals, exitCode: number): number {
  const code = received === undefined ? exitCode : exitCodeOfSignal(received);
  if (received !== undefined || context.stdout.stream.writableLength > 0) context.exitNow(code);
  return code;
}
