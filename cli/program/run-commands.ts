import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { addRunFlags, runFlags } from '../flags/run-flags.ts';
import type { ChooseAction, CommandAdders } from './command-action.ts';

/** The commands that take scripts. */
export const RUN_COMMANDS: CommandAdders = { run: addRun, resume: addResume, check: addCheck };

function addRun(program: Command, context: CliContext, choose: ChooseAction): void {
  const run = program
    .command('run')
    .summary('run a script')
    .description('Runs a workflow script and prints what it returns.')
    .argument('<script>', 'a .js or .ts file, the name of a saved workflow, or - for stdin')
    .optionsGroup('Again:')
    .option('--resume <run-id>', 'go on with that run, with this script as it is now')
    .option('--import <run>', 'take the recorded answers of a run of Claude Code, by the order of the calls');
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
      choose(async () => (await import('../commands/run.ts')).runCommand(context, script, runFlags(run))),
    );
}

function addResume(program: Command, context: CliContext, choose: ChooseAction): void {
  const resume = program
    .command('resume')
    .summary('go on with a run')
    .description('Runs a stored script again; every agent that had finished is answered from the journal.')
    .argument('[run-id]', 'the run, or as much of its id as is unique')
    .optionsGroup('Which:')
    .option('--last', 'the run that was started last')
    .option('--import', 'the run is one of Claude Code: start a new one with its recorded answers');
  addRunFlags(resume)
    .addHelpText(
      'after',
      `
Examples:
  wf resume wf_1a2b3c4d-5e6
  wf resume --last --max-agents 2000`,
    )
    .action((runId: string | undefined) =>
      choose(async () => (await import('../commands/resume.ts')).resumeRunCommand(context, runId, runFlags(resume))),
    );
}

function addCheck(program: Command, context: CliContext, choose: ChooseAction): void {
  const check = program
    .command('check')
    .summary('look for mistakes without running')
    .description('Validates scripts without running them, and warns about what will hurt.')
    .argument('<script...>', 'files, names of saved workflows, or - for stdin')
    .option('--json', 'print one object for tools')
    .addHelpText('after', '\nExamples:\n  wf check review.js\n  wf check --json .wf/workflows/*.js')
    .action((scripts: string[]) =>
      choose(async () => (await import('../commands/check.ts')).checkCommand(context, scripts, check.opts())),
    );
}
