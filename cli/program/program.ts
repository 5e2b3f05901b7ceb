import { Command, type CommanderError } from 'commander';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { WF_VERSION } from '../../runtime/version.ts';
import type { CliContext } from '../cli-context.ts';
import type { ChooseAction, CommandAdders } from './command-action.ts';
import { COMPARE_COMMANDS } from './compare-commands.ts';
import { HOST_COMMANDS } from './host-commands.ts';
import { LATER_COMMANDS, notYet } from './later-features.ts';
import { MACHINE_COMMANDS } from './machine-commands.ts';
import { programOutput } from './program-output.ts';
import { RECORD_COMMANDS } from './record-commands.ts';
import { RUN_COMMANDS } from './run-commands.ts';
import { SCRIPT_COMMANDS } from './script-commands.ts';

/** In the order of the help. */
const COMMANDS: CommandAdders = {
  ...RUN_COMMANDS,
  ...SCRIPT_COMMANDS,
  ...RECORD_COMMANDS,
  ...COMPARE_COMMANDS,
  ...HOST_COMMANDS,
  ...MACHINE_COMMANDS,
};

/** Its subject is the whole tree. */
const NEEDS_ALL = 'completion';

/**
 * Builds the command tree. Each action only says what to do; the code of a command is loaded when it runs.
 * `choose` is called with the action of the command that was named.
 *
 * @param only builds no command but this one, where there is one of that name: its parse is the same, and starts sooner
 */
export function createProgram(context: CliContext, choose: ChooseAction, only?: string): Command {
  const program = new Command('wf');
  program
    .description('Runs workflow scripts: isolated, resumable, observable.')
    .usage('<command> [options]')
    .version(WF_VERSION, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'explain a command')
    .exitOverride()
    .configureOutput(programOutput(context))
    .addHelpText(
      'after',
      `
Examples:
  wf run review.js --args '{"path":"src"}'   run a script
  wf resume --last                           go on with the last run; finished agents cost nothing
  wf check review.js                         look for mistakes without running
  wf logs wf_1a2b -f                         follow a run
  wf -p '/review src'                        run a saved workflow as an agent SDK would; see wf -p --help`,
    );
  const named = COMMANDS[only ?? ''];
  if (named !== undefined && only !== NEEDS_ALL) {
    named(program, context, choose);
    return program;
  }
  for (const add of Object.values(COMMANDS)) add(program, context, choose);
  addLaterCommands(program);
  return program;
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

/**
 * Turns what commander threw into an error of ours; undefined when it only printed help.
 *
 * @param argv the words of the command line
 */
export function usageError(error: CommanderError, argv: readonly string[]): WorkflowError | undefined {
  if (error.exitCode === 0) return undefined;
  return new WorkflowError('USAGE_INVALID', usageMessage(error, argv), { cause: error });
}

/** A suggestion of commander stands on a line of its own; the code of an error ends its first line. */
function usageMessage({ code, message }: CommanderError, [first, second]: readonly string[]): string {
  if (code === 'commander.help') {
    return first === 'help' && second !== undefined
      ? `unknown command '${second}'; wf --help lists the commands`
      : 'no command was given; wf --help lists them';
  }
  const text = message.replace(/^error: /, '').replace(/\n\(/g, ' (');
  const isScript = code === 'commander.unknownCommand' && /\.[cm]?[jt]s$/.test(first ?? '');
  if (isScript) return `${text}; to run a script: wf run ${first}`;
  const help = NEEDS_HELP.has(code) && !text.includes('(Did you mean') ? helpOf(first) : undefined;
  return help === undefined ? text : `${text.replace(/\.$/, '')}; ${help} says what it takes`;
}

/** What commander says of these names no way out. */
const NEEDS_HELP: ReadonlySet<string> = new Set([
  'commander.missingArgument',
  'commander.excessArguments',
  'commander.unknownOption',
  'commander.optionMissingArgument',
]);

function helpOf(first: string | undefined): string {
  return first !== undefined && first in COMMANDS ? `wf ${first} --help` : 'wf --help';
}
