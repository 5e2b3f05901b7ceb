import { agentFailureText } from '../protocol/agent-failure-text.ts';
import type { CoreEvent, CoreEventData } from '../protocol/core-event.ts';
import type { Clock, EventSink, TimerHandle } from '../runtime/ports.ts';
import { formatDuration } from './format-duration.ts';
import { createPaint } from './text/paint.ts';
import { createPhaseCrowd, type PhaseCrowd } from './text/phase-crowd.ts';
import { fitColumns } from './text/terminal-text.ts';
import {
  endLines,
  finishedLine,
  headerLines,
  limitLine,
  logLine,
  partFailedLine,
  retryLine,
  showLabel,
  type TextLine,
  worktreeLine,
} from './text/text-lines.ts';

/** A run in which nothing is heard for so long says that it is still there. */
const SILENCE_MS = 60_000;

export interface TextEmitterOptions {
  /** Takes whole lines, line feed included. */
  write(text: string): void;
  /** Cuts lines to `width()`. */
  readonly isTty: boolean;
  /** Columns of the terminal now; asked for every line, so that a resize is noticed. */
  width(): number;
  readonly color: boolean;
  /** Shows only what needs a person: simulated agents, limits, the end. */
  readonly quiet: boolean;
  /** Leaves out beginnings of agents, where something else shows who is at work. @defaultValue false */
  readonly omitStarts?: boolean;
  /** Says now and then that agents still run. Without it nothing but events is shown. */
  readonly clock?: Clock | undefined;
}

/**
 * Shows a run to a person, a line for each change (E-17).
 *
 * Contract:
 * - Readable on a terminal and in a pipe; a phase with more than 40 agents shows counts instead of agents.
 * - Text from scripts and agents cannot steer the terminal.
 */
export function createTextEmitter(options: TextEmitterOptions): EventSink {
  const say = createSayer(options);
  const view: View = {
    simulated: false,
    startedAtMs: 0,
    phase: '',
    agents: new Map(),
    running: 0,
    crowds: new Map(),
    failures: new Set(),
  };
  let timer: TimerHandle | undefined;

  const watchSilence = (): void => {
    timer?.cancel();
    timer = options.clock?.after(SILENCE_MS, () => {
      const elapsedMs = (options.clock?.now() ?? view.startedAtMs) - view.startedAtMs;
      say([{ tone: 'dim', text: `  … ${runningAgents(view)}, after ${formatDuration(elapsedMs)}` }]);
      watchSilence();
    });
  };

  return {
    handle(event) {
      const all = linesOf(view, event);
      const lines = options.omitStarts === true && event.type === 'agent.started' ? [] : all;
      if (lines.length > 0) say(lines);
      if (event.type === 'run.finished') timer?.cancel();
      else if (lines.length > 0) watchSilence();
    },
    async close() {
      timer?.cancel();
    },
  };
}

function createSayer({ write, isTty, width, color, quiet }: TextEmitterOptions): (lines: readonly TextLine[]) => void {
  const paint = createPaint(color);
  return (lines) => {
    const shown = lines
      .filter(({ important }) => !quiet || important === true)
      .map(({ tone, text, important, whole }) => {
        const fitted = isTty && important !== true && whole !== true ? fitColumns(text, Math.max(20, width())) : text;
        return `${paint[tone](fitted)}\n`;
      });
    if (shown.length > 0) write(shown.join(''));
  };
}

const runningAgents = ({ running }: View): string => (running === 1 ? '1 agent runs' : `${running} agents run`);

interface KnownAgent {
  readonly label: string;
  /** As the events have it. */
  readonly fullLabel: string;
  readonly phase: string;
  hasStarted: boolean;
}

interface View {
  simulated: boolean;
  startedAtMs: number;
  /** Title of the last heading. */
  phase: string;
  /** Agents in flight, by key. */
  readonly agents: Map<string, KnownAgent>;
  running: number;
  readonly crowds: Map<string, PhaseCrowd>;
  /** What the log will say again of agents whose end was shown or counted. */
  readonly failures: Set<string>;
}

function linesOf(view: View, event: CoreEvent): TextLine[] {
  switch (event.type) {
    case 'run.started':
      view.simulated = event.data.simulated;
      view.startedAtMs = event.at;
      return headerLines(event.data);
    case 'phase.started':
      return headingFor(view, event.data.title);
    case 'agent.queued':
      meet(view, event.data);
      return [];
    case 'agent.started':
      return startedLines(view, event.data);
    case 'agent.retrying': {
      const agent = view.agents.get(event.data.key);
      if (agent === undefined || crowdOf(view, agent.phase).isCrowded) return [];
      return [retryLine(labelIn(view, agent), event.data)];
    }
    case 'agent.finished':
      return finishedLines(view, event.data, event.at);
    case 'agent.cached':
      return cachedLines(view, event.data, event.at);
    case 'part.failed':
      return [partFailedLine(event.data)];
    case 'log':
      return view.failures.delete(event.data.text) ? [] : [logLine(event.data)];
    case 'limit':
      return [limitLine(event.data)];
    case 'run.finished':
      return endLines(event.data, view.simulated);
    case 'agent.active':
    case 'agent.tool':
      return [];
    default:
      event satisfies never; // a type of a newer log
      return [];
  }
}

function headingFor(view: View, title: string): TextLine[] {
  const shown = showLabel(title);
  if (shown === view.phase) return [];
  view.phase = shown;
  return [{ tone: 'heading', text: shown.startsWith('▸') ? shown : `▸ ${shown}` }];
}

function meet(view: View, who: CoreEventData<'agent.queued'>): KnownAgent {
  const agent = {
    label: showLabel(who.label),
    fullLabel: who.label,
    phase: showLabel(who.phaseTitle ?? ''),
    hasStarted: false,
  };
  view.agents.set(who.key, agent);
  crowdOf(view, agent.phase).queued();
  return agent;
}

function crowdOf(view: View, phase: string): PhaseCrowd {
  const known = view.crowds.get(phase);
  if (known !== undefined) return known;
  const crowd = createPhaseCrowd();
  view.crowds.set(phase, crowd);
  return crowd;
}

/** The label, with its phase where that is not the heading above. */
function labelIn(view: View, { label, phase }: KnownAgent): string {
  return phase === '' || phase === view.phase ? label : `${label} [${phase}]`;
}

function startedLines(view: View, { key }: CoreEventData<'agent.started'>): TextLine[] {
  const agent = view.agents.get(key);
  if (agent === undefined || agent.hasStarted) return [];
  agent.hasStarted = true;
  view.running++;
  if (crowdOf(view, agent.phase).isCrowded) return [];
  return [{ tone: 'dim', text: `  ▶ ${labelIn(view, agent)}` }];
}

function finishedLines(view: View, data: CoreEventData<'agent.finished'>, atMs: number): TextLine[] {
  const agent = view.agents.get(data.key);
  if (agent === undefined) return [];
  view.agents.delete(data.key);
  if (agent.hasStarted) view.running--;
  if (data.error !== undefined) view.failures.add(agentFailureText(agent.fullLabel, data.error));
  const lines = endedLines(view, agent, data.state === 'error', atMs, finishedLine(labelIn(view, agent), data));
  return withWorktree(lines, agent, data);
}

/** Where work is to be found is said of every agent, also in a crowd. */
function withWorktree(
  lines: TextLine[],
  agent: KnownAgent,
  data: Pick<CoreEventData<'agent.finished'>, 'worktree'>,
): TextLine[] {
  const line = worktreeLine(agent.fullLabel, data);
  return line === undefined ? lines : [...lines, line];
}

function cachedLines(view: View, data: CoreEventData<'agent.cached'>, atMs: number): TextLine[] {
  const agent = meet(view, data);
  view.agents.delete(data.key);
  const line: TextLine = { tone: 'good', text: `  ✓ ${labelIn(view, agent)} (cached)` };
  return withWorktree(endedLines(view, agent, false, atMs, line), agent, data);
}

function endedLines(view: View, agent: KnownAgent, failed: boolean, atMs: number, line: TextLine): TextLine[] {
  const crowd = crowdOf(view, agent.phase);
  const hasOwnLine = crowd.ended(failed, atMs);
  const counts = crowd.counts(atMs);
  const where = agent.phase === '' || agent.phase === view.phase ? '' : `${agent.phase}: `;
  return [
    ...(hasOwnLine ? [line] : []),
    ...(counts === undefined ? [] : [{ tone: 'plain' as const, text: `  ${where}${counts}` }]),
  ];
}
