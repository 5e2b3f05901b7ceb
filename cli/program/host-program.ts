import { Command, Option } from 'commander';
import { PERMISSION_MODES } from '../../hosts/stdio/session-settings.ts';
import { WF_VERSION } from '../../runtime/version.ts';
import type { CliContext } from '../cli-context.ts';
import { collect, integerBetween, nonEmpty, wordOf } from '../flags/option-values.ts';
import { addRunFlags, type RunFlags } from '../flags/run-flags.ts';
import type { ChooseAction } from './command-action.ts';
import { programOutput } from './program-output.ts';

/** Options of `wf` without a command, as typed: those of `wf run` and those that agent SDKs pass. Source: spec H-6. */
export interface HostFlags extends Omit<RunFlags, 'outputFormat' | 'permissionMode'> {
  readonly print?: boolean;
  readonly inputFormat: 'text' | 'stream-json';
  readonly outputFormat: 'text' | 'json' | 'stream-json';
  readonly permissionMode?: string;
  readonly permissionPromptTool?: string;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly resume?: string;
  readonly continue?: boolean;
  readonly sessionId?: string;
  readonly forkSession?: boolean;
  readonly includePartialMessages?: boolean;
  readonly replayUserMessages?: boolean;
  readonly forwardSubagentText?: boolean;
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  readonly maxTurns?: number;
  readonly settings?: string;
  readonly mcpConfig?: readonly string[];
  readonly strictMcpConfig?: boolean;
  readonly addDir?: readonly string[];
}

/** Words by which a command line without a command shows that it wants the host. */
const HOST_WORDS = /^(?:-p|--print|--input-format(?:=.*)?|--output-format(?:=.*)?)$/;

/** Tells whether a command line asks for the host: it names no command, and how to talk. */
export function wantsHost(argv: readonly string[]): boolean {
  return argv[0]?.startsWith('-') === true && argv.some((word) => HOST_WORDS.test(word));
}

/** Of `wf run`, and without a meaning here. */
const NOT_HERE = ['--args', '--arg', '--record', '--dry-run', '--salvage', '--resume-policy', '--yes'];
/** Taken and left alone: what they set does not exist here. With and without a value. */
const ACCEPTED = [
  '--setting-sources <list>',
  '--effort <level>',
  '--max-thinking-tokens <n>',
  '--thinking <mode>',
  '--fallback-model <model>',
  '--betas <list>',
  '--agent <name>',
  '--agents <json>',
  '--tools <list>',
  '--json-schema <json>',
  '--plugin-dir <dir>',
  '--resume-session-at <id>',
  '--debug-file <file>',
  '--allow-dangerously-skip-permissions',
  '--no-session-persistence',
  '--include-hook-events',
  '--session-mirror',
  '--debug',
] as const;

/** Builds the command line of the host. Its code is loaded when it runs. */
export function createHostProgram(context: CliContext, choose: ChooseAction): Command {
  const host = new Command('wf');
  host
    .usage('-p "<prompt>" [options]   |   wf --input-format stream-json --output-format stream-json [options]')
    .description(
      'Runs saved workflows (/name args) and a conversation that starts workflows: for one prompt, or for a program that ' +
        'speaks stream-json over stdin and stdout.',
    )
    .version(WF_VERSION, '-V, --version', 'print the version')
    .argument('[prompt...]', 'what to do; read from stdin when it is missing')
    .exitOverride()
    .configureOutput(programOutput(context));
  addTalkFlags(host);
  addRunFlags(host);
  mendRunFlags(host);
  for (const flags of ACCEPTED) host.addOption(new Option(flags, 'accepted').hideHelp());
  host
    .addHelpText(
      'after',
      `
Examples:
  wf -p '/deep-research tea'
  wf -p 'Review src with several agents' --output-format json
  wf --input-format stream-json --output-format stream-json`,
    )
    .action((prompt: readonly string[]) =>
      choose(async () => (await import('../commands/host.ts')).hostCommand(context, prompt.join(' '), hostFlags(host))),
    );
  if (context.argv.some((word, at) => isStreamInput(word, context.argv[at + 1]))) {
    // A newer SDK may pass what this version does not know; its user could do nothing about a refusal.
    host.allowUnknownOption().allowExcessArguments();
  }
  return host;
}

function isStreamInput(word: string, next: string | undefined): boolean {
  return word === '--input-format=stream-json' || (word === '--input-format' && next === 'stream-json');
}

function addTalkFlags(host: Command): void {
  host
    .optionsGroup('How to talk:')
    .option('-p, --print', 'answer one prompt and end')
    .addOption(
      new Option('--input-format <format>', 'text: one prompt; stream-json: a line a message, until stdin is closed')
        .default('text')
        .argParser(wordOf(['text', 'stream-json'])),
    )
    .option('--verbose', 'accepted; stream-json has every line anyway')
    .option('--include-partial-messages', 'show answers of the model while they come, as stream_event lines')
    .option('--forward-subagent-text', 'show what agents of workflows say, as assistant lines with parent_tool_use_id')
    .option('--replay-user-messages', 'repeat each message when its turn begins')
    .option('--permission-prompt-tool <name>', 'stdio: ask over stdout (can_use_tool) where the mode asks')
    .option('--allowedTools, --allowed-tools <list>', 'tools that run without a question', collect)
    .option('--disallowedTools, --disallowed-tools <list>', 'tools that never run', collect)
    .optionsGroup('The conversation:')
    .option('--session-id <uuid>', 'id of a new session', nonEmpty)
    .option('-r, --resume <session>', 'go on with the conversation of that session', nonEmpty)
    .option('-c, --continue', 'go on with the last conversation of this directory')
    .option('--fork-session', 'with --resume or --continue: go on under a new id')
    .option('--system-prompt <text>', 'instructions of the main conversation, instead of the built-in ones')
    .option('--append-system-prompt <text>', 'added to them')
    .option('--max-turns <n>', 'requests to the model that one turn may make', integerBetween(1, 10_000))
    .option('--settings <file-or-json>', 'settings with hooks, beside those of the project', nonEmpty)
    .option('--mcp-config <file-or-json>', 'MCP servers, beside those of .mcp.json; may be repeated', collect)
    .option('--strict-mcp-config', 'only those of --mcp-config')
    .option('--add-dir <folder>', 'changes nothing: agents work in the working directory', collect);
}

/** The host's own words for options that `wf run` has too. */
function mendRunFlags(host: Command): void {
  for (const option of host.options) {
    const { long = '' } = option;
    if (NOT_HERE.includes(long)) option.hideHelp();
    if (long === '--permission-mode') {
      option.argParser(wordOf(PERMISSION_MODES));
      option.description = `what needs a question: ${PERMISSION_MODES.join(', ')}`;
    }
  }
}

function hostFlags(host: Command): HostFlags {
  const values = host.opts<Record<string, unknown>>();
  const formatGiven = host.getOptionValueSource('outputFormat') !== 'default';
  const outputFormat = formatGiven || values['inputFormat'] === 'text' ? values['outputFormat'] : 'stream-json';
  return { ...(values as unknown as HostFlags), outputFormat: outputFormat as HostFlags['outputFormat'] };
}
