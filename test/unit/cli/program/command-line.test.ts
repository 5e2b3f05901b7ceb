import { type Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { limitsOf, type RunFlags, runFlags } from '../../../../cli/flags/run-flags.ts';
import { createProgram, usageError } from '../../../../cli/program/program.ts';
import { fakeContext } from '../fake-context.ts';

function parse(...argv: string[]): { program: Command; flags: () => RunFlags; chosen: boolean } {
  let chosen = false;
  const choose = (): void => {
    chosen = true;
  };
  const program = createProgram(fakeContext(), choose, argv[0]);
  program.parse(argv, { from: 'user' });
  const command = program.commands.find((one) => one.name() === argv[0]);
  return { program, flags: () => runFlags(command as Command), chosen };
}

function refusal(...argv: string[]): string {
  try {
    parse(...argv).flags();
  } catch (error) {
    if (error instanceof CommanderError) return usageError(error, argv)?.message ?? '';
    return (error as Error).message;
  }
  throw new Error(`accepted: ${argv.join(' ')}`);
}

describe('the command line of run and resume', () => {
  it('options reach the run, each in its unit (C-1)', () => {
    const { flags } = parse(
      ...['run', 'a.js', '--concurrency', '3', '--max-agents', '10', '--max-items', '5000', '--max-depth', '2'],
      ...[
        '--max-retries',
        '0',
        '--memory-limit-mb',
        '64',
        '--cpu-limit-ms',
        '800',
        '--timeout',
        '1.5',
        '--budget',
        '9',
      ],
      ...['--max-structured-output-retries', '2', '--arg', 'a=1', '--arg', 'b=c=d', '--no-include-source'],
    );
    expect(flags()).toMatchObject({
      concurrency: 3,
      arg: ['a=1', 'b=c=d'],
      includeSource: false,
      outputFormat: 'text',
    });
    expect(limitsOf(flags(), {})).toEqual({
      maxAgents: 10,
      maxItems: 5000,
      maxDepth: 2,
      maxRetries: 0,
      memoryLimitMb: 64,
      cpuLimitMs: 800,
      timeoutMs: 1500,
      budget: 9,
      maxStructuredOutputRetries: 2,
    });
  });

  it('what was not given is not set, so that a resume keeps what is stored (C-2)', () => {
    expect(limitsOf(parse('resume', '--last').flags(), {})).toEqual({});
  });

  it.each(['0', '-5'])('a budget of %s is none (A-16)', (budget) => {
    expect(limitsOf(parse('run', 'a.js', '--budget', budget).flags(), {})).toEqual({ budget: null });
  });

  it('retries are read from the environment, and an option wins (A-4, A-13)', () => {
    const env = { MAX_STRUCTURED_OUTPUT_RETRIES: '7', WF_MAX_RETRIES: '2', CLAUDE_CODE_MAX_RETRIES: '9' };
    expect(limitsOf(parse('run', 'a.js').flags(), env)).toEqual({ maxRetries: 2, maxStructuredOutputRetries: 7 });
    expect(limitsOf(parse('run', 'a.js').flags(), { CLAUDE_CODE_MAX_RETRIES: '9' })).toEqual({ maxRetries: 9 });
    expect(limitsOf(parse('run', 'a.js', '--max-retries', '1').flags(), env)).toMatchObject({ maxRetries: 1 });
    expect(() => limitsOf(parse('run', 'a.js').flags(), { WF_MAX_RETRIES: 'lots' })).toThrow(
      /WF_MAX_RETRIES.*0 to 100/,
    );
  });

  it.each([
    [['run', 'a.js', '--concurency', '3'], /--concurency.*--concurrency/],
    [['run', 'a.js', '--concurrency', '0'], /--concurrency.*'0'.*1 to 256/],
    [['run', 'a.js', '--concurrency', '257'], /'257'.*1 to 256/],
    [['run', 'a.js', '--backend', 'nonsense'], /nonsense.*scripted/],
    [['run', 'a.js', '--output-format', 'jsn'], /jsn.*Did you mean json/],
    [['run', 'a.js', '--state-dir', ''], /--state-dir.*empty/],
    [['list', '--state-dir', ' '], /--state-dir.*empty/],
    [['run', 'a.js', '--model', ''], /--model.*empty/],
    [['run'], /script.*; wf run --help says/],
    [['list', '--days', '3'], /--days.*; wf list --help says/],
    [['run', 'a.js', '--budget', 'x'], /'x' is invalid\. It takes a whole number\./],
    [['rum', 'a.js'], /rum.*run/],
    [['frobnicate'], /frobnicate/],
    [['run', 'a.js', 'b.js'], /too many arguments.*; wf run --help/i],
    [[], /--help/],
    [['help', 'rum'], /'rum'.*--help/],
    [['flow.js'], /flow\.js.*wf run flow\.js/],
  ])('%j is refused with its reason and the nearest right word (C-7, C-10)', (argv, reason) => {
    expect(refusal(...(argv as string[]))).toMatch(reason as RegExp);
  });

  it.each([
    [['run', 'a.js', '--backend', 'restate'], '--backend restate'],
    [['run', 'a.js', '--output-format', 'workbench'], '--output-format workbench'],
    [['compile', 'flow.json', '--out', 'x'], 'wf compile'],
  ])('%j is known and refused by name (C-1, C-5)', (argv, name) => {
    expect(refusal(...argv)).toContain(`${name} is not in this version of wf`);
  });

  it('every command explains itself with an example (C-10)', () => {
    const program = createProgram(fakeContext(), () => {});
    for (const command of program.commands.filter((one) => !['help'].includes(one.name()))) {
      let text = '';
      command.configureOutput({ writeOut: (part) => (text += part) });
      command.outputHelp();
      if (text.includes('is not in this version')) continue;
      if (command.name() === 'fork') expect(text).not.toContain('--dry-run');
      expect(command.summary() === '' || /Examples?:/.test(text), command.name()).toBe(true);
    }
  });
});
