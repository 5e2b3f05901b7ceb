import { CommanderError } from 'commander';
import { toErrorRecord, WorkflowError } from '../protocol/workflow-error.ts';
import type { CliContext } from './cli-context.ts';
import { exitCodeOfError } from './exit-code.ts';
import { printError, wantsStacks } from './output/print-error.ts';
import { refusedOutput } from './output/refused-output.ts';
import { writeRunOutput } from './output/write-run-output.ts';
import type { CommandAction } from './program/command-action.ts';
import { createHostProgram, wantsHost } from './program/host-program.ts';
import { createProgram, usageError } from './program/program.ts';

/** Runs one command line to its end and gives the exit code. Never rejects: every error becomes a message and a code. */
export async function runCli(context: CliContext): Promise<number> {
  try {
    const action = parseCommandLine(context);
    const exitCode = action === undefined ? 0 : await action();
    await context.stdout.flushed();
    if (exitCode === 0 && context.stdout.failure !== undefined) throw outputLost(context.stdout.failure);
    return exitCode;
  } catch (error) {
    return refuse(context, error);
  } finally {
    context.takeSandbox()?.kill();
  }
}

function outputLost(cause: Error): WorkflowError {
  const message = `the output could not be written: ${cause.message}; nothing of a run is lost: wf list names it, and wf show <run-id> the file that holds its result`;
  return new WorkflowError('OUTPUT_UNWRITABLE', message, { cause });
}

/** Gives what the command line asks for; undefined when help or the version was printed. */
function parseCommandLine(context: CliContext): CommandAction | undefined {
  let action: CommandAction | undefined;
  const choose = (chosen: CommandAction): void => {
    action = chosen;
  };
  const program = wantsHost(context.argv)
    ? createHostProgram(context, choose)
    : createProgram(context, choose, context.argv[0]);
  try {
    program.parse(context.argv, { from: 'user' });
    return action;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const usage = usageError(error, context.argv);
    if (usage !== undefined) throw usage;
    return undefined;
  }
}

/** Says why nothing ran: to a person, and in `json` to a program as well (C-6). */
function refuse(context: CliContext, error: unknown): number {
  const record = toErrorRecord(error);
  printError(context.stderr, error, wantsStacks(context.env));
  if (wantsRunObject(context.argv)) writeRunOutput(context.stdout, refusedOutput(record), undefined);
  return exitCodeOfError(record.code);
}

/** Reads the format off the words themselves, since the command line may be the very thing that is wrong. */
function wantsRunObject(argv: readonly string[]): boolean {
  if (argv[0] !== 'run' && argv[0] !== 'resume' && argv[0] !== 'fork') return false;
  return argv.some(
    (word, i) => word === '--output-format=json' || (word === '--output-format' && argv[i + 1] === 'json'),
  );
}
