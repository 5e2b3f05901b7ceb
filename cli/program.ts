import { Argument, Command, type CommanderError } from 'commander';
import { WorkflowError } from '../protocol/workflow-error.ts';
import { WF_VERSION } from '../runtime/version.ts';
import type { CliContext } from './cli-context.ts';
import { LATER_COMMANDS, notYet } from './later-features.ts';
import { spanMs, wordOf } from './option-values.ts';
import { addRunFlags, DIALECTS, LOG_FORMATS, runFlags } from './run-flags.ts';

/** What a command line asks for: runs it and gives the exit code. */
export type CommandAction = () => Promise<number>;

/**
 * Builds the command tree. Each action only says what to do; the code of a command is loaded when it runs.
 * `choose` is called with the action of the command that was named.
 */
export function createProgram(context: CliContext, choose: (action: CommandAction) => void): Command {
  const program = new Command('wf');
  program
    .description('Runs workflow scripts: isolated, resumable, observable.')
    .usage('<command> [options]')
    .version(WF_VERSION, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'explain a command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      outputError: () => {}, // Printed once, by the caller, with its code.
      getOutHelpWidth: () => context.stdout.columns ?? 100,
      getErrHelpWidth: () => context.stderr.columns ?? 100,
    })
    .addHelpText(
      'after',
      `
Examples:
  wf run review.js --args '{"path":"src"}'   run a script
  wf resume --last                           go on with the last run; finished agents cost nothing
  wf check review.js                         look for mistakes without running
  wf logs wf_1a2b -f                         follow a run`,
    );
  addRunCommands(program, context, choose);
  addRecordCommands(program, context, choose);
  addMachineCommands(program, context, choose);
  addLaterCommands(program);
  return program;
}

function addRunCommands(program: Command, context: CliContext, choose: (action: CommandAction) => void): void {
  const run = program
    .command('run')
    .summary('run a script')
    .description('Runs a workflow script and prints what it returns.')
    .argument('<script>', 'a .js or .ts file, the name of a saved workflow, or - for stdin')
    .optionsGroup('Again:')
    .option('--resume <run-id>', 'go on with that run, with this script as it is now');
  addRunFlags(run)
    .addHelpText(
      'after',
      `
Examples:
  wf run review.js --args '{"path":"src"}'
  wf run review --arg path=src --arg depth=2
  wf run review.js --backend simulated --output-format json
  wf run review.js --resume wf_1a2b3c4d-5e6 --concurrency 4`,
    )
    .action((script: string) =>
      choose(async () => (await import('./commands/run.ts')).runCommand(context, script, runFlags(run))),
    );
  const resume = program
    .command('resume')
    .summary('go on with a run')
    .description('Runs a stored script again; every agent that had finished is answered from the journal.')
    .argument('[run-id]', 'the run, or as much of its id as is unique')
    .optionsGroup('Which:')
    .option('--last', 'the run that was started last');
  addRunFlags(resume)
    .addHelpText(
      'after',
      `
Examples:
  wf resume wf_1a2b3c4d-5e6
  wf resume --last --max-agents 2000`,
    )
    .action((runId: string | undefined) =>
      choose(async () => (await import('./commands/resume.ts')).resumeRunCommand(context, runId, runFlags(resume))),
    );
  const check = program
    .command('check')
    .summary('look for mistakes without running')
    .description('Validates scripts without running them, and warns about what will hurt.')
    .argument('<script...>', 'files, names of saved workflows, or - for stdin')
    .option('--json', 'print one object for tools')
    .addHelpText('after', '\nExamples:\n  wf check review.js\n  wf check --json .wf/workflows/*.js')
    .action((scripts: string[]) =>
      choose(async () => (await import('./commands/check.ts')).checkCommand(context, scripts, check.opts())),
    );
}

function addRecordCommands(program: Command, context: CliContext, choose: (action: CommandAction) => void): void {
  const list = withState(program.command('list'))
    .summary('list runs, or saved workflows')
    .description('Lists the runs, the latest first.')
    .option('--workflows', 'list the saved workflows instead')
    .option('--json', 'print one array for tools')
    .addHelpText('after', '\nExamples:\n  wf list\n  wf list --workflows')
    .action(() => choose(async () => (await import('./commands/list.ts')).listCommand(context, list.opts())));
  const show = withState(program.command('show'))
    .summary('show one run')
    .description('Shows what is known of a run: its state, agents, failures, result and how to resume it.')
    .argument('<run-id>', 'the run, or as much of its id as is unique')
    .option('--json', 'print one object for tools')
    .addHelpText('after', '\nExamples:\n  wf show wf_1a2b\n  wf show wf_1a2b --json')
    .action((runId: string) =>
      choose(async () => (await import('./commands/show.ts')).showCommand(context, runId, show.opts())),
    );
  const logs = withState(program.command('logs'))
    .summary('print what a run said')
    .description('Prints what a reader of the last launch would have seen live.')
    .argument('<run-id>', 'the run, or as much of its id as is unique')
    .option('-f, --follow', 'go on until the run ends')
    .option('--all', 'all launches, not only the last')
    .option(
      '--output-format <format>',
      'text, json (the events themselves) or stream-json',
      wordOf(LOG_FORMATS, ['workbench']),
      'text',
    )
    .option('--dialect <dialect>', 'of stream-json: claude or cbc', wordOf(DIALECTS), 'claude')
    .option('--include-source', 'put the script into the first line of stream-json')
    .option('--no-include-source', 'leave it out')
    .addHelpText(
      'after',
      '\nExamples:\n  wf logs wf_1a2b -f\n  wf logs wf_1a2b --output-format stream-json --dialect cbc',
    )
    .action((runId: string) =>
      choose(async () => (await import('./commands/logs.ts')).logsCommand(context, runId, logs.opts())),
    );
  const stop = withState(program.command('stop'))
    .summary('stop a run')
    .description('Asks the process of a run to stop, and waits until it has.')
    .argument('<run-id>', 'the run, or as much of its id as is unique')
    .option('--json', 'print one object for tools')
    .addHelpText('after', '\nExample:\n  wf stop wf_1a2b')
    .action((runId: string) =>
      choose(async () => (await import('./commands/stop.ts')).stopCommand(context, runId, stop.opts())),
    );
  const clean = withState(program.command('clean'))
    .summary('remove finished runs')
    .description('Removes runs that are over, with their transcripts. A run at work is never touched.')
    .argument('[run-id...]', 'only these runs')
    .option('--older-than <span>', 'only runs that have been over for so long: 12h, 7d, 2w', spanMs)
    .option('--dry-run', 'only say which')
    .option('--yes', 'do not ask')
    .option('--json', 'print one object for tools')
    .addHelpText('after', '\nExamples:\n  wf clean --older-than 7d\n  wf clean --dry-run')
    .action((runIds: string[]) =>
      choose(async () => (await import('./commands/clean.ts')).cleanCommand(context, runIds, clean.opts())),
    );
}

function addMachineCommands(program: Command, context: CliContext, choose: (action: CommandAction) => void): void {
  program
    .command('schema')
    .summary('print the JSON Schemas of the formats')
    .description('Prints the JSON Schema of a format on disk or on the wire; without a name, all of them.')
    .argument('[name]', 'for example journal-row')
    .addHelpText('after', '\nExamples:\n  wf schema\n  wf schema run-output')
    .action((name: string | undefined) =>
      choose(async () => (await import('./commands/schema.ts')).schemaCommand(context, name)),
    );
  program
    .command('types')
    .summary('print the types of a script’s globals')
    .description('Prints the TypeScript declarations of what a script can say, for editors.')
    .addHelpText('after', '\nExample:\n  wf types > .wf/workflows/globals.d.ts')
    .action(() => choose(async () => (await import('./commands/types.ts')).typesCommand(context)));
  const doctor = withState(program.command('doctor'))
    .summary('check this machine')
    .description('Checks what wf needs of this machine.')
    .option('--json', 'print one object for tools')
    .addHelpText('after', '\nExample:\n  wf doctor')
    .action(() => choose(async () => (await import('./commands/doctor.ts')).doctorCommand(context, doctor.opts())));
  program
    .command('completion')
    .summary('print a completion script for a shell')
    .description('Prints a script that completes commands and options.')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      '\nExamples:\n  wf completion bash > ~/.local/share/bash-completion/completions/wf\n  wf completion fish > ~/.config/fish/completions/wf.fish',
    )
    .action((shell: 'bash' | 'zsh' | 'fish') =>
      choose(async () => (await import('./commands/completion.ts')).completionCommand(context, program, shell)),
    );
}

function addLaterCommands(program: Command): void {
  for (const [name, instead] of Object.entries(LATER_COMMANDS)) {
    program
      .command(name, { hidden: true })
      .argument('[words...]')
      .allowUnknownOption()
      .helpOption(false)
      .action(() => {
        throw notYet(`wf ${name}`, instead);
      });
  }
}

function withState(command: Command): Command {
  return command.option('--state-dir <folder>', 'where runs are kept ($WF_HOME, else ~/.wf)');
}

/**
 * Turns what commander threw into an error of ours; undefined when it only printed help.
 * Its messages hold a suggestion on a line of its own where it has one.
 */
export function usageError(error: CommanderError): WorkflowError | undefined {
  if (error.exitCode === 0) return undefined;
  if (error.code === 'commander.help') {
    return new WorkflowError('USAGE_INVALID', 'no command was given; wf --help lists them');
  }
  const message = error.message.replace(/^error: /, '');
  return new WorkflowError('USAGE_INVALID', message, { cause: error });
}
