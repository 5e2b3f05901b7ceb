import { type Command, Option } from 'commander';
import { LAYOUTS } from '../launch/transcript-layouts.ts';
import { LATER_BACKENDS } from '../program/later-features.ts';
import { nonEmpty, wordOf } from './option-values.ts';
import { addLimitFlags, BACKENDS, type RunFlags } from './run-flags.ts';
import { splitWords } from './split-words.ts';
import { addToolFlags } from './tool-flags.ts';

/** Options of `wf mcp`, as typed. */
export interface McpFlags extends Omit<RunFlags, 'backend' | 'outputFormat' | 'dialect'> {
  /** `host` is no backend of a launch: then the connected agent does every run, and nothing runs in the background. */
  readonly backend?: RunFlags['backend'] | 'host';
}

export function addMcpFlags(command: Command): Command {
  command
    .optionsGroup('Who answers, of runs in the background:')
    .option(
      '--backend <name>',
      'as for wf run; or host, when the connected agent is to do every run itself',
      wordOf([...BACKENDS, 'host'], LATER_BACKENDS),
    )
    .option(
      '--agent-command <command>',
      'the agent CLI that a process backend starts, with its first arguments',
      splitWords,
    )
    .option('--responses <file>', 'planned answers for the scripted backend', nonEmpty)
    .option('--model <model>', 'model of agents that name none: haiku, sonnet, opus or an id', nonEmpty)
    .option('--no-hooks', 'run none of the hooks that settings of the project and the user name')
    .option('--reuse', 'take answers of earlier runs of this machine, and leave those of these runs for later ones');
  addToolFlags(command);
  addLimitFlags(command);
  return command
    .optionsGroup('Output and state:')
    .addOption(
      new Option(
        '--layout <name>',
        'file transcripts also as another program does: claude or cbc; wf for not',
      ).argParser(wordOf(LAYOUTS)),
    )
    .option('--quiet', 'say only what went wrong');
}
