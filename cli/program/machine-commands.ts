import { Argument, type Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { type ChooseAction, type CommandAdders, withState } from './command-action.ts';

/** The commands about this machine and the formats. */
export const MACHINE_COMMANDS: CommandAdders = {
  cache: addCache,
  schema: addSchema,
  types: addTypes,
  doctor: addDoctor,
  completion: addCompletion,
};

function addCache(program: Command, context: CliContext, choose: ChooseAction): void {
  const cache = withState(program.command('cache'))
    .summary('look after the results that runs share')
    .description('Lists, checks or removes the results that runs leave for one another with --reuse.')
    .addArgument(new Argument('<action>', 'what to do').choices(['ls', 'verify', 'clear']))
    .option('--json', 'print one array or object for tools')
    .option('--yes', 'do not ask before clear')
    .addHelpText('after', '\nExamples:\n  wf cache ls\n  wf cache verify\n  wf cache clear --yes')
    .action((action: 'ls' | 'verify' | 'clear') =>
      choose(async () => (await import('../commands/cache.ts')).cacheCommand(context, action, cache.opts())),
    );
}

function addSchema(program: Command, context: CliContext, choose: ChooseAction): void {
  program
    .command('schema')
    .summary('print the JSON Schemas of the formats')
    .description('Prints the JSON Schema of a format on disk or on the wire; without a name, all of them.')
    .argument('[name]', 'for example journal-row')
    .addHelpText('after', '\nExamples:\n  wf schema\n  wf schema run-output')
    .action((name: string | undefined) =>
      choose(async () => (await import('../commands/schema.ts')).schemaCommand(context, name)),
    );
}

function addTypes(program: Command, context: CliContext, choose: ChooseAction): void {
  program
    .command('types')
    .summary('print the types of a script’s globals')
    .description('Prints the TypeScript declarations of what a script can say, for editors.')
    .addHelpText('after', '\nExample:\n  wf types > .wf/workflows/globals.d.ts')
    .action(() => choose(async () => (await import('../commands/types.ts')).typesCommand(context)));
}

function addDoctor(program: Command, context: CliContext, choose: ChooseAction): void {
  const doctor = withState(program.command('doctor'))
    .summary('check this machine')
    .description('Checks what wf needs of this machine.')
    .option('--json', 'print one object for tools')
    .addHelpText('after', '\nExample:\n  wf doctor')
    .action(() => choose(async () => (await import('../commands/doctor.ts')).doctorCommand(context, doctor.opts())));
}

function addCompletion(program: Command, context: CliContext, choose: ChooseAction): void {
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
      choose(async () => (await import('../commands/completion.ts')).completionCommand(context, program, shell)),
    );
}
