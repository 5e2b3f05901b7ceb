import type { Command } from 'commander';
import { LATER_BACKENDS } from './later-features.ts';
import { integerBetween, nonEmpty, wordOf } from './option-values.ts';
import { BACKENDS, type RunFlags } from './run-flags.ts';
import { addToolFlags } from './tool-flags.ts';

/** Options of `wf mcp`, as typed. */
export interface McpFlags extends Omit<RunFlags, 'backend' | 'outputFormat' | 'dialect'> {
  /** `host` is no backend of a launch: then the connected agent does every run, and nothing runs in the background. */
  readonly backend?: RunFlags['backend'] | 'host';
}

export function addMcpFlags(command: Command): Command {
  command
    .option(
      '--backend <name>',
      'of runs in the background: as for wf run; or host, when the connected agent is to do every run itself',
      wordOf([...BACKENDS, 'host'], LATER_BACKENDS),
    )
    .option('--responses <file>', 'planned answers for the scripted backend', nonEmpty)
    .option('--model <model>', 'model of agents that name none: haiku, sonnet, opus or an id', nonEmpty)
    .option('--concurrency <n>', 'agents of a run at a time, 1 to 256', integerBetween(1, 256))
    .option('--max-agents <n>', 'agents of a run (1000)', integerBetween(1, 1_000_000))
    .option('--budget <tokens>', 'output tokens of a run', integerBetween(0, Number.MAX_SAFE_INTEGER))
    .option('--quiet', 'say only what went wrong');
  addToolFlags(command);
  return command;
}
