import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import type { ForkFlags } from '../commands/fork.ts';
import { addRunFlags, runFlags } from '../flags/run-flags.ts';
import { type ChooseAction, type CommandAdders, withState } from './command-action.ts';

/** The commands that set one run beside another. */
export const COMPARE_COMMANDS: CommandAdders = { fork: addFork, diff: addDiff };

function addFork(program: Command, context: CliContext, choose: ChooseAction): void {
  const fork = program
    .command('fork')
    .summary('go on with a copy of a run')
    .description(
      'Makes a new run that shares the answers of another up to a point, and runs it. The old run stays as it is.',
    )
    .argument('<run-id>', 'the run, or as much of its id as is unique')
    .optionsGroup('What is shared:')
    .option(
      '--from <scope|label>',
      'the first call that runs anew, with all after it; without it all answers are shared',
    )
    .option('--edit <script>', 'run this script instead of the stored one')
    .option('--no-run', 'only make the run');
  addRunFlags(fork);
  fork.options.find(({ long }) => long === '--dry-run')?.hideHelp(); // refused, with what to do instead
  fork
    .addHelpText(
      'after',
      `
Examples:
  wf fork wf_1a2b --from verdict
  wf fork wf_1a2b --edit review.js --from /pipeline:0
  wf fork wf_1a2b --no-run`,
    )
    .action((runId: string) =>
      choose(async () =>
        (await import('../commands/fork.ts')).forkCommand(context, runId, runFlags(fork) as ForkFlags),
      ),
    );
}

function addDiff(program: Command, context: CliContext, choose: ChooseAction): void {
  const diff = withState(program.command('diff'))
    .summary('compare two runs')
    .description('Compares the calls of two runs by their content, and their results. Ends with 1 when they differ.')
    .argument('<run-id>', 'a run, or as much of its id as is unique')
    .argument('<other-run-id>', 'the other one')
    .option('--json', 'print one object for tools')
    .addHelpText('after', '\nExamples:\n  wf diff wf_1a2b wf_3c4d\n  wf diff wf_1a2b wf_3c4d --json')
    .action((runId: string, other: string) =>
      choose(async () => (await import('../commands/diff.ts')).diffCommand(context, runId, other, diff.opts())),
    );
}
