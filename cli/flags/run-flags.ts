import { type Command, Option } from 'commander';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { RunLimits } from '../../runtime/run-options.ts';
import { LAYOUTS, type LayoutName } from '../launch/transcript-layouts.ts';
import { LATER_BACKENDS, LATER_OPTIONS, LATER_OUTPUT_FORMATS, notYet } from '../program/later-features.ts';
import { collect, integerBetween, laneOf, nonEmpty, numberBetween, wordOf } from './option-values.ts';
import { splitWords } from './split-words.ts';
import { addToolFlags, type ToolFlags } from './tool-flags.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json';
export type Dialect = 'claude' | 'cbc';
export type BackendName = (typeof BACKENDS)[number];

/** Options of `run` and `resume`, as typed. Absent means not given. */
export interface RunFlags extends ToolFlags {
  readonly args?: string;
  readonly arg?: readonly string[];
  readonly backend?: BackendName;
  /** Words of the command that a process backend starts. */
  readonly agentCommand?: readonly string[];
  readonly responses?: string;
  readonly record?: string;
  readonly model?: string;
  readonly concurrency?: number;
  readonly lane?: Readonly<Record<string, number>>;
  readonly confirmAbove?: number;
  readonly maxAgents?: number;
  readonly maxItems?: number;
  readonly maxDepth?: number;
  readonly maxRetries?: number;
  readonly maxStructuredOutputRetries?: number;
  readonly memoryLimitMb?: number;
  readonly cpuLimitMs?: number;
  /** Seconds. */
  readonly timeout?: number;
  readonly budget?: number;
  /** US dollars. */
  readonly budgetUsd?: number;
  readonly prices?: string;
  readonly failOnAgentError?: boolean;
  readonly salvage?: boolean;
  readonly dryRun?: boolean;
  readonly resumePolicy?: 'content' | 'prefix';
  /** False with `--no-hooks`. */
  readonly hooks?: boolean;
  /** Answers are shared with other runs of this machine. */
  readonly reuse?: boolean;
  /** Of `run`, a run of Claude Code; of `resume`, that the one named is such a run. */
  readonly import?: string | true;
  readonly outputFormat: OutputFormat;
  readonly dialect: Dialect;
  readonly layout?: LayoutName;
  readonly includeSource?: boolean;
  readonly stateDir?: string;
  readonly quiet?: boolean;
  readonly yes?: boolean;
  /** Only of `run`. */
  readonly resume?: string;
  /** Only of `resume`. */
  readonly last?: boolean;
}

export const BACKENDS = ['scripted', 'simulated', 'anthropic', 'claude', 'codebuddy', 'process'] as const;
const OUTPUT_FORMATS: readonly OutputFormat[] = ['text', 'json', 'stream-json'];
/** What `wf logs` prints. */
export const LOG_FORMATS: readonly OutputFormat[] = OUTPUT_FORMATS;
export const DIALECTS: readonly Dialect[] = ['claude', 'cbc'];
const MAX_TIMEOUT_S = 2_000_000;

/** Adds the options that `run` and `resume` share. Source: spec C-1. */
export function addRunFlags(command: Command): Command {
  addWorkFlags(command);
  addToolFlags(command);
  addLimitFlags(command);
  command.option(
    '--confirm-above <n>',
    'ask before one parallel or pipeline starts more agents than this (never)',
    integerBetween(1, 1_000_000),
  );
  addOutputFlags(command);
  for (const later of LATER_OPTIONS) command.addOption(new Option(later.flags, 'later').hideHelp());
  return command;
}

function addWorkFlags(command: Command): void {
  command
    .optionsGroup('What the script gets:')
    .option('--args <json>', 'its args, as JSON or @file')
    .option('--arg <key=value>', 'one member of its args, JSON or else text; may be repeated', collect)
    .optionsGroup('Who answers:')
    .option(
      '--backend <name>',
      'scripted (with --responses), simulated, anthropic, claude, codebuddy or process (with --agent-command); without it anthropic when a key is set, else simulated',
      wordOf(BACKENDS, LATER_BACKENDS),
    )
    .option(
      '--agent-command <command>',
      'the agent CLI that a process backend starts, with its first arguments',
      splitWords,
    )
    .option(
      '--responses <file>',
      'planned answers for the scripted backend; the file is explained in docs/responses.md',
    )
    .option('--record <file>', 'write the answers of this run as such a file')
    .option('--model <model>', 'model of agents that name none: haiku, sonnet, opus or an id (sonnet)', nonEmpty)
    .option('--no-hooks', 'run none of the hooks that settings of the project and the user name')
    .option('--reuse', 'take answers of earlier runs of this machine, and leave those of this run for later ones');
}

/** Adds the bounds of a run and its agents. */
export function addLimitFlags(command: Command): void {
  command
    .optionsGroup('Limits:')
    .option(
      '--concurrency <n>',
      'agents at a time, 1 to 256 (16; with an agent CLI the processors less two, from 2 to 16)',
      integerBetween(1, 256),
    )
    .option('--lane <name=n>', 'agents at a time that name this lane; may be repeated (no bound)', laneOf)
    .option('--max-agents <n>', 'agents a run (1000)', integerBetween(1, 1_000_000))
    .option('--max-items <n>', 'items of one parallel or pipeline (4096)', integerBetween(1, 1_000_000))
    .option('--max-depth <n>', 'levels of nested workflows (1)', integerBetween(0, 16))
    .option(
      '--max-retries <n>',
      'retries of one agent after transient errors (5, or $WF_MAX_RETRIES)',
      integerBetween(0, 100),
    )
    .option(
      '--max-structured-output-retries <n>',
      'tries of one structured answer (5, or $MAX_STRUCTURED_OUTPUT_RETRIES)',
      integerBetween(1, 100),
    )
    .option('--memory-limit-mb <n>', 'memory of the script in MiB (256)', integerBetween(16, 16_384))
    .option('--cpu-limit-ms <n>', 'CPU time of the script without a pause (30000)', integerBetween(50, 86_400_000))
    .option('--timeout <seconds>', 'time of this launch (no bound)', numberBetween(0.1, MAX_TIMEOUT_S, 'seconds'))
    .option(
      '--budget <tokens>',
      'output tokens of this launch; a resume counts from 0; 0 for no bound (none)',
      integerBetween(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    )
    .option(
      '--budget-usd <dollars>',
      'US dollars of this launch; a resume counts from 0; 0 for no bound (none)',
      numberBetween(0, 1_000_000_000, 'US dollars'),
    )
    .option('--prices <file>', 'what models cost, where it is not what wf knows', nonEmpty)
    .option('--fail-on-agent-error', 'a run with failed agents fails, with exit code 5 (it completes)');
}

function addOutputFlags(command: Command): void {
  command
    .optionsGroup('Output and state:')
    .addOption(
      new Option('--output-format <format>', 'text, json or stream-json')
        .default('text')
        .argParser(wordOf(OUTPUT_FORMATS, LATER_OUTPUT_FORMATS)),
    )
    .addOption(
      new Option('--dialect <dialect>', 'of stream-json: claude or cbc').default('claude').argParser(wordOf(DIALECTS)),
    )
    .option('--include-source', 'put the script into the first line of stream-json (dialect claude does)')
    .option('--no-include-source', 'leave it out')
    .addOption(
      new Option(
        '--layout <name>',
        'file transcripts also as another program does: claude or cbc; wf for not (wf)',
      ).argParser(wordOf(LAYOUTS)),
    )
    .option('--state-dir <folder>', 'where runs are kept ($WF_HOME, else ~/.wf)', nonEmpty)
    .option('--quiet', 'say only what went wrong')
    .option('--yes', 'answer questions with yes')
    .option('--dry-run', 'of a resume: say which calls would run, and run none')
    .option('--salvage', 'keep the good rows of a damaged journal and go on with them')
    .addOption(
      new Option('--resume-policy <policy>', 'what stored results answer: content (default) or prefix').argParser(
        wordOf(['content', 'prefix']),
      ),
    );
}

/**
 * Takes the options out of a parsed command.
 *
 * @throws USAGE_UNSUPPORTED for what is known but not in this version
 */
export function runFlags(command: Command): RunFlags {
  const values = command.opts<Record<string, unknown>>();
  for (const { name, flags, instead } of LATER_OPTIONS) {
    if (values[name] !== undefined) throw notYet(flags.split(' ')[0] ?? flags, instead);
  }
  refuseLater('--backend', values['backend'], LATER_BACKENDS, `Use ${BACKENDS.join(', ')}`);
  refuseLater('--output-format', values['outputFormat'], LATER_OUTPUT_FORMATS, 'Use text, json or stream-json');
  return values as unknown as RunFlags;
}

function refuseLater(flag: string, value: unknown, later: readonly string[], instead: string): void {
  if (typeof value === 'string' && later.includes(value)) throw notYet(`${flag} ${value}`, instead);
}

/** Limits as typed and as the environment sets them; what is absent is left to the stored or default ones. Source: spec C-1, A-4, A-13. */
export function limitsOf(
  flags: Partial<RunFlags>,
  env: Readonly<Record<string, string | undefined>>,
): Partial<RunLimits> {
  const limits: { -readonly [K in keyof RunLimits]: RunLimits[K] | undefined } = {
    maxAgents: flags.maxAgents,
    maxItems: flags.maxItems,
    maxDepth: flags.maxDepth,
    maxRetries:
      flags.maxRetries ?? fromEnv(env, 'WF_MAX_RETRIES', 0, 100) ?? fromEnv(env, 'CLAUDE_CODE_MAX_RETRIES', 0, 100),
    maxStructuredOutputRetries:
      flags.maxStructuredOutputRetries ?? fromEnv(env, 'MAX_STRUCTURED_OUTPUT_RETRIES', 1, 100),
    memoryLimitMb: flags.memoryLimitMb,
    cpuLimitMs: flags.cpuLimitMs,
    timeoutMs: flags.timeout === undefined ? undefined : Math.round(flags.timeout * 1000),
    budget: orNone(flags.budget),
    budgetUsd: orNone(flags.budgetUsd),
  };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** A budget of 0 or less is none. */
function orNone(budget: number | undefined): number | null | undefined {
  return budget !== undefined && budget <= 0 ? null : budget;
}

function fromEnv(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  min: number,
  max: number,
): number | undefined {
  const text = env[name];
  if (text === undefined || text.trim() === '') return undefined;
  try {
    return integerBetween(min, max)(text);
  } catch {
    throw new WorkflowError(
      'USAGE_INVALID',
      `the environment variable ${name} is ${JSON.stringify(text)}; it takes a whole number from ${min} to ${max}`,
    );
  }
}
