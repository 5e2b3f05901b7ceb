import { type Command, InvalidArgumentError } from 'commander';
import { FINDING_KINDS, VARIANT_KINDS, type VariantKind } from '../../runtime/rehearse/rehearsal.ts';
import type { CliContext } from '../cli-context.ts';
import type { NewFlags } from '../flags/new-flags.ts';
import { collect, integerBetween, nonEmpty, numberBetween, wordOf } from '../flags/option-values.ts';
import { addRunFlags, runFlags } from '../flags/run-flags.ts';
import { DEFAULT_ORDERS, type TestFlags } from '../flags/test-flags.ts';
import type { ChooseAction, CommandAdders } from './command-action.ts';

/** The commands that try scripts out. */
export const SCRIPT_COMMANDS: CommandAdders = { new: addNew, test: addTest };

function addNew(program: Command, context: CliContext, choose: ChooseAction): void {
  const command = program
    .command('new')
    .summary('have a model write a script')
    .description(
      'A model writes the script of a task. It is checked, mended, shown with its phases, and run after a yes.',
    )
    .argument('<task...>', 'what the workflow is to do, in a sentence or more')
    .optionsGroup('The script:')
    .option('--save <name>', 'keep it as .wf/workflows/NAME.js', nonEmpty);
  addRunFlags(command)
    .addHelpText(
      'after',
      `
Without a terminal and without --yes the script is printed and not run.

Examples:
  wf new "review the handlers in src/api for missing checks"
  wf new "compare these three designs" --args @designs.json --save compare
  wf new "find dead code" --backend claude --yes > report.json --output-format json`,
    )
    .action((words: string[]) =>
      choose(async () =>
        (await import('../commands/new.ts')).newCommand(context, words.join(' '), {
          ...runFlags(command),
          ...command.opts<Pick<NewFlags, 'save'>>(),
        }),
      ),
    );
}

function addTest(program: Command, context: CliContext, choose: ChooseAction): void {
  const test = program
    .command('test')
    .summary('try a script against failures and delays')
    .description(
      'Runs a script many times without a model: answers in other orders, a failure, a null and a bad answer at each call ' +
        'in turn, the budget cut at each call, a kill and a resume at each call. Reports what the script does not bear.',
    )
    .argument('<script>', 'a .js or .ts file, the name of a saved workflow, or - for stdin')
    .optionsGroup('What the script gets:')
    .option('--args <json>', 'its args, as JSON or @file')
    .option('--arg <key=value>', 'one member of its args, JSON or else text; may be repeated', collect)
    .option('--responses <file>', 'answers, planned or of wf run --record; what they do not know is simulated')
    .optionsGroup('What is tried:')
    .option(
      '--only <kind[:number]>',
      `one variant or all of a kind: ${VARIANT_KINDS.join(', ')}; may be repeated`,
      only,
    )
    .option('--ignore <kind>', `a finding that does not count: ${FINDING_KINDS.join(', ')}; may be repeated`, ignored)
    .option('--orders <n>', 'other orders of answers', integerBetween(0, 1000), DEFAULT_ORDERS)
    .option('--max-variants <n>', 'runs at most; of more, a sample', integerBetween(1, 100_000), 200)
    .option('--seed <n>', 'decides orders and samples', integerBetween(0, 2 ** 31 - 1), 1)
    .option('--jobs <n>', 'runs at a time', integerBetween(1, 16), 3)
    .option('--timeout <seconds>', 'time after which a run counts as hanging', numberBetween(0.1, 3600, 'seconds'), 20)
    .optionsGroup('Limits of each run:')
    .option('--concurrency <n>', 'agents at a time, 1 to 256', integerBetween(1, 256))
    .option('--budget <tokens>', 'output tokens', integerBetween(1, Number.MAX_SAFE_INTEGER))
    .option('--max-agents <n>', 'agents (1000)', integerBetween(1, 1_000_000))
    .option('--max-depth <n>', 'levels of nested workflows (1)', integerBetween(0, 16))
    .optionsGroup('Output:')
    .option('--json', 'print one object for tools')
    .option('--quiet', 'no progress')
    .addHelpText(
      'after',
      `
Ends with 0 when nothing was found, with 1 when something was.

Examples:
  wf test review.js --args '{"path":"src"}'
  wf run review.js --record answers.json && wf test review.js --responses answers.json
  wf test review.js --only null:3 --only kill
  wf test review.js --ignore swallows-failure --json`,
    );
  test.action((script: string) =>
    choose(async () => (await import('../commands/test.ts')).testCommand(context, script, test.opts<TestFlags>())),
  );
}

type Only = NonNullable<TestFlags['only']>;

function only(text: string, previous: Only | undefined): Only {
  const [word = '', number, ...rest] = text.split(':');
  const kind = wordOf(VARIANT_KINDS)(word) as VariantKind;
  if (rest.length > 0 || (number !== undefined && !/^[1-9]\d{0,8}$/.test(number))) {
    throw new InvalidArgumentError(`It takes a kind, or a kind and the number of a call, as in ${kind}:3.`);
  }
  return [...(previous ?? []), number === undefined ? { kind } : { kind, number: Number(number) }];
}

function ignored(text: string, previous: readonly string[] | undefined): readonly string[] {
  return collect(wordOf(FINDING_KINDS)(text), previous);
}
