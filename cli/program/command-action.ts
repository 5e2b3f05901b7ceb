import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { nonEmpty } from '../flags/option-values.ts';

/** What a command line asks for: runs it and gives the exit code. */
export type CommandAction = () => Promise<number>;

/** Called with the action of the command that was named. */
export type ChooseAction = (action: CommandAction) => void;

/** How to add a command to the tree, by its name. */
export type CommandAdders = Readonly<
  Record<string, (program: Command, context: CliContext, choose: ChooseAction) => void>
>;

/** Adds the option that names the state directory. */
export function withState(command: Command): Command {
  return command.option('--state-dir <folder>', 'where runs are kept ($WF_HOME, else ~/.wf)', nonEmpty);
}
