import type { Census, CoreEventData } from '../../protocol/core-event.ts';
import { describeCost, describePhaseCosts, formatUsd } from '../describe-cost.ts';
import { allAgentsDied, describeCensus, describeDeaths } from '../describe-end.ts';
import { formatDuration } from '../format-duration.ts';
import { toTerminalLine } from './terminal-text.ts';

const LABEL_CHARACTERS = 80;
const TEXT_CHARACTERS = 400;

/** How a line is coloured. */
export type Tone = 'plain' | 'heading' | 'dim' | 'good' | 'warn' | 'bad' | 'loud';

export interface TextLine {
  readonly tone: Tone;
  readonly text: string;
  /** Shown with `--quiet` too, and never cut to the width of the terminal. */
  readonly important?: boolean;
  /** Never cut to the width of the terminal: what it says is nowhere else on the screen. */
  readonly whole?: boolean;
}

export const showLabel = (label: string): string => toTerminalLine(label, LABEL_CHARACTERS);
const show = (text: string): string => toTerminalLine(text, TEXT_CHARACTERS);

export function headerLines(run: CoreEventData<'run.started'>): TextLine[] {
  const { name, description } = run.workflow;
  const again = run.launch > 1 ? `, start ${run.launch}` : '';
  const model = run.model === undefined ? '' : `, model ${showLabel(run.model)}`;
  const facts = `${run.runId}${again}, backend ${run.backend}${model}, up to ${run.concurrency.value} agents at a time`;
  return [
    { tone: 'heading', text: `${showLabel(name)}: ${show(description)}` },
    { tone: 'dim', text: `  ${facts}` },
    ...(run.simulated ? [simulatedLine] : []),
  ];
}

const simulatedLine: TextLine = {
  tone: 'loud',
  text: 'SIMULATED: no model is asked, every answer is made up. For real agents set ANTHROPIC_API_KEY and use --backend anthropic.',
  important: true,
};

export function retryLine(label: string, data: CoreEventData<'agent.retrying'>): TextLine {
  const { status, message } = data.reason;
  const why = status === undefined || message.includes(String(status)) ? show(message) : `${status} ${show(message)}`;
  return { tone: 'warn', text: `  ↻ ${label}: again in ${formatDuration(data.delayMs)}, after ${why}` };
}

export function finishedLine(label: string, data: CoreEventData<'agent.finished'>): TextLine {
  const tokens = formatCount(data.inputTokens + data.outputTokens);
  const spent = data.costUsd === undefined ? '' : `, ${formatUsd(data.costUsd)}`;
  const cost = `${formatDuration(data.durationMs)}, ${tokens} tokens${spent}`;
  switch (data.state) {
    case 'done': {
      const empty = data.emptyResult === true ? ', empty answer' : '';
      return { tone: 'good', text: `  ✓ ${label} (${cost}${empty})` };
    }
    case 'error': {
      const why = data.error === undefined ? 'no reason given' : `${show(data.error.message)} [${data.error.code}]`;
      return { tone: 'bad', text: `  ✗ ${label} (${cost}): ${why}`, whole: true };
    }
    case 'skipped':
      return { tone: 'warn', text: `  - ${label} skipped` };
    case 'cancelled':
      return { tone: 'warn', text: `  - ${label} cancelled (${cost})` };
    default:
      return data.state satisfies never;
  }
}

/** Where an agent left changes; undefined when it left none, or has no worktree. */
export function worktreeLine(
  label: string,
  { worktree }: Pick<CoreEventData<'agent.finished'>, 'worktree'>,
): TextLine | undefined {
  if (worktree === undefined) return undefined;
  const { path, branch } = worktree;
  const text = `    changes of ${showLabel(label)}: branch ${show(branch)}, in ${toTerminalLine(path, 4096)}`;
  return { tone: 'plain', text, whole: true };
}

export function partFailedLine({ helper, index, stage, error }: CoreEventData<'part.failed'>): TextLine {
  const where = stage === undefined ? `${helper} item ${index}` : `${helper} item ${index}, stage ${stage}`;
  return { tone: 'bad', text: `  ✗ ${where}: ${show(error.message)} [${error.code}]`, whole: true };
}

export function logLine({ level, text }: CoreEventData<'log'>): TextLine {
  const shown = show(text);
  switch (level) {
    case 'debug':
      return { tone: 'dim', text: `  · ${shown}`, whole: true };
    case 'info':
      return { tone: 'plain', text: `  · ${shown}`, whole: true };
    case 'warn':
      return { tone: 'warn', text: `  · warning: ${shown}`, whole: true };
    case 'error':
      return { tone: 'bad', text: `  · error: ${shown}`, whole: true };
    default:
      return level satisfies never;
  }
}

export function limitLine({ code, message }: CoreEventData<'limit'>): TextLine {
  return { tone: 'warn', text: `  ! ${show(message)} [${code}]`, important: true };
}

/** The last lines of a run; the first of them says when all agents died (A-19). */
export function endLines(run: CoreEventData<'run.finished'>, simulated: boolean): TextLine[] {
  const { census, usage, status } = run;
  const died: TextLine[] = allAgentsDied(census)
    ? [{ tone: 'loud', text: noAnswerText(census, status), important: true }]
    : [];
  const mark = simulated ? ' SIMULATED' : '';
  const cost = describeCost(usage);
  const spent = cost === undefined ? '' : `, ${cost}`;
  const totals = `${describeCensus(census)}; ${formatCount(usage.total_tokens)} tokens, ${formatDuration(usage.duration_ms)}${spent}`;
  const byPhase = describePhaseCosts(run.costs);
  const head = `${endWord(status)}${mark}: ${totals}`;
  return [
    ...died,
    { tone: status === 'completed' && died.length === 0 ? 'good' : 'bad', text: head, important: true },
    ...(byPhase === undefined
      ? []
      : [{ tone: 'dim' as const, text: `  spent: ${toTerminalLine(byPhase, 1000)}`, whole: true }]),
    ...(run.error === undefined ? [] : [errorLine(run.error)]),
    { tone: 'dim', text: `  output: ${toTerminalLine(run.outputFile, 4096)}`, whole: true },
    ...(status === 'completed' && census.agents_error === 0 ? [] : [resumeLine(run.resume)]),
  ];
}

function noAnswerText(census: Census, status: CoreEventData<'run.finished'>['status']): string {
  const hint = status === 'completed' ? ' To have such a run fail: --fail-on-agent-error.' : '';
  return `No agent gave an answer: ${describeDeaths(census)}.${hint}`;
}

function endWord(status: CoreEventData<'run.finished'>['status']): string {
  switch (status) {
    case 'completed':
      return 'Completed';
    case 'failed':
      return 'Failed';
    case 'killed':
      return 'Stopped';
    default:
      return status satisfies never;
  }
}

/** The place is left out where the message has it, as `flow.js:3:18`. */
function errorLine({ message, code, line, column }: NonNullable<CoreEventData<'run.finished'>['error']>): TextLine {
  const isSaid =
    line === undefined || new RegExp(`:${line}${column === undefined ? '' : `:${column}`}\\b`).test(message);
  const place = isSaid ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
  return { tone: 'bad', text: `  ${toTerminalLine(message, 2000)}${place} [${code}]`, important: true };
}

/** Whole, since a person copies it. */
const resumeLine = (command: string): TextLine => ({
  tone: 'plain',
  text: `  resume: ${toTerminalLine(command, 8192)}`,
  important: true,
});

/** `12,345`. */
export const formatCount = (value: number): string => value.toLocaleString('en-US');
