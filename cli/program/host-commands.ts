import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { addMcpFlags } from '../flags/mcp-flags.ts';
import { type ChooseAction, type CommandAdders, withState } from './command-action.ts';

/** The commands that let another program drive wf. */
export const HOST_COMMANDS: CommandAdders = { mcp: addMcp };

function addMcp(program: Command, context: CliContext, choose: ChooseAction): void {
  const mcp = addMcpFlags(withState(program.command('mcp')))
    .summary('serve workflows to an agent over MCP')
    .description(
      'Serves workflows over the Model Context Protocol on stdin and stdout: to run them in the background, or for the connected agent to do each step itself (wf_start, no key needed).',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  wf mcp                            with the key in the environment, else simulated\n  claude mcp add wf -- wf mcp       register it with Claude Code\n  codebuddy mcp add wf -- wf mcp    and with CodeBuddy',
    )
    .action(() => choose(async () => (await import('../commands/mcp.ts')).mcpCommand(context, mcp.opts())));
}
