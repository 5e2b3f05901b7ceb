import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { spanMs, wordOf } from '../flags/option-values.ts';
import { DIALECTS, LOG_FORMATS } from '../flags/run-flags.ts';
import { type ChooseAction, type CommandAdders, withState } from './command-action.ts';
import { LATER_OUTPUT_FORMATS } from './later-features.ts';

/** The commands about stored runs. */
export const RECORD_COMMANDS: CommandAdders = {
  list: addList,
  show: addShow,
  logs: addLogs,
  stop: addStop,
  clean: addClean,
};

function addList(program: Command, context: CliContext, choose: ChooseAction): void {
  const list = withState(program.command('list'))
    .summary('list runs, or saved workflows')
    .description('Lists the runs, the latest first.')
    .option('--workflows', 'list the saved workflows instead')
    .option('--json', 'print one array for tools')
    .addHelpText('after', '\nExamples:\n  wf list\n  wf list --workflows')
    .action(() => choose(async () => (await import('../commands/list.ts')).listCommand(context, list.opts())));
}

function addShow(program: Command, context: CliContext, choose: ChooseAction): void {
  const show = withState(program.command('show'))
    .summary('show one run')
    .description('Shows what is known of a run: its state, agents, failures, result and how to resume it.')
    .argument('[run-id]', 'the run, or as much of its id as is unique')
    .option('--last', 'the run that was started last')
    .option('--json', 'print one object for tools')
    .addHelpText('after', '\nExamples:\n  wf show wf_1a2b\n  wf show --last --json')
    .action((runId: string | undefined) =>
      choose(async () => (await import('../commands/show.ts')).showCommand(context, runId, show.opts())),
    );
}

function addLogs(program: Command, context: CliContext, choose: ChooseAction): void {
  const logs = withState(program.command('logs'))
    .summary('print what a run said')
    .description('Prints what a reader of the last launch would have seen live.')
    .argument('[run-id]', 'the run, or as much of its id as is unique')
    .option('--last', 'the run that was started last')
    .option('-f, --follow', 'go on until the run ends')
    .option('--all', 'all launches, not only the last')
    .option(
      '--output-format <format>',
      'text, json (the events themselves) or stream-json',
      wordOf(LOG_FORMATS, LATER_OUTPUT_FORMATS),
      'text',
    )
    .option('--dialect <dialect>', 'of stream-json: claude or cbc', wordOf(DIALECTS), 'claude')
    .option('--include-source', 'put the script into the first line of stream-json')
    .option('--no-include-source', 'leave it out')
    .addHelpText(
      'after',
      '\nExamples:\n  wf logs --last -f\n  wf logs wf_1a2b --output-format stream-json --dialect cbc',
    )
    .action((runId: string | undefined) =>
      choose(async () => (await import('../commands/logs.ts')).logsCommand(context, runId, logs.opts())),
    );
}

function addStop(program: Command, context: CliContext, choose: ChooseAction): void {
  const stop = withState(program.command('stop'))
    .summary('stop a run')
    .description('Asks the process of a run to stop, and waits until it has.')
    .argument('<run-id>', 'the run, or as much of its id as is unique')
    .option('--json', 'print one object for tools')
    .addHelpText('after', '\nExample:\n  wf stop wf_1a2b')
    .action((runId: string) =>
      choose(async () => (await import('../commands/stop.ts')).stopCommand(context, runId, stop.opts())),
    );
}

function addClean(program: Command, context: CliContext, choose: ChooseAction): void {
  const clean = withState(program.command('clean'))
    .summary('remove finished runs')
    .description(
      'Removes runs that are over, with their transcripts and the worktrees that hold no work. A run at work is never touched.',
    )
    .argument('[run-id...]', 'only these runs')
    .option('--older-than <span>', 'only runs that have been over for so long: 12h, 7d, 2w', spanMs)
    .option('--dry-run', 'only say which')
    .option('--worktrees', 'also worktrees of agents whose work is merged nowhere, with their branches')
    .option('--yes', 'do not ask')
    .option('--json', 'print one object for tools')
    .addHelpText('after', '\nExamples:\n  wf clean --older-than 7d\n  wf clean --dry-run')
    .action((runIds: string[]) =>
      choose(async () => (await import('../commands/clean.ts')).cleanCommand(context, runIds, clean.opts())),
    );
}
