import type { CoreEvent, CoreEventData } from '../../protocol/core-event.ts';
import { createRunSummary } from '../../protocol/run-summary.ts';
import { describeCost } from '../describe-cost.ts';
import { formatDuration } from '../format-duration.ts';
import { formatCount, showLabel, type TextLine } from '../text/text-lines.ts';

export interface TreeView {
  apply(event: CoreEvent): void;
  readonly running: number;
  /** The tree as it is at `nowMs`, in at most so many lines: phases with counts, agents at work below them, a bar. */
  lines(nowMs: number, maxLines: number): TextLine[];
}

interface Phase {
  readonly title: string;
  queued: number;
  done: number;
  cached: number;
  failed: number;
  /** Skipped or cancelled. */
  left: number;
  readonly running: Map<string, Running>;
}

interface Running {
  readonly label: string;
  readonly sinceMs: number;
}

const BAR_COLUMNS = 20;

/** Folds the events of a run into what a terminal shows while it works (E-17). */
export function createTreeView(): TreeView {
  const summary = createRunSummary({ keepAgents: false });
  const phases = new Map<string, Phase>();
  /** Agents in flight. */
  const whereabouts = new Map<string, { readonly phase: Phase; readonly label: string }>();
  let startedAtMs = 0;

  const phaseOf = (title: string): Phase => {
    const known = phases.get(title);
    if (known !== undefined) return known;
    const phase = { title, queued: 0, done: 0, cached: 0, failed: 0, left: 0, running: new Map() };
    phases.set(title, phase);
    return phase;
  };

  const take = (event: CoreEvent): void => {
    switch (event.type) {
      case 'run.started':
        startedAtMs = event.at;
        for (const { title } of event.data.workflow.phases ?? []) phaseOf(showLabel(title));
        return;
      case 'agent.queued': {
        const phase = phaseOf(showLabel(event.data.phaseTitle ?? ''));
        phase.queued++;
        whereabouts.set(event.data.key, { phase, label: showLabel(event.data.label) });
        return;
      }
      case 'agent.started': {
        const found = whereabouts.get(event.data.key);
        if (found === undefined || found.phase.running.has(event.data.key)) return;
        found.phase.queued--;
        found.phase.running.set(event.data.key, { label: found.label, sinceMs: event.at });
        return;
      }
      case 'agent.finished':
        finish(event.data);
        return;
      case 'agent.cached':
        phaseOf(showLabel(event.data.phaseTitle ?? '')).cached++;
        return;
      default:
    }
  };

  const finish = ({ key, state }: CoreEventData<'agent.finished'>): void => {
    const phase = whereabouts.get(key)?.phase;
    if (phase === undefined) return;
    whereabouts.delete(key);
    if (!phase.running.delete(key)) phase.queued--;
    if (state === 'done') phase.done++;
    else if (state === 'error') phase.failed++;
    else phase.left++;
  };

  return {
    apply(event) {
      summary.apply(event);
      take(event);
    },
    get running() {
      return [...phases.values()].reduce((sum, { running }) => sum + running.size, 0);
    },
    lines(nowMs, maxLines) {
      const cost = describeCost(summary.usage(nowMs));
      const tokens = `${formatCount(summary.usage(nowMs).total_tokens)} tokens`;
      const spent = [tokens, ...(cost === undefined ? [] : [cost]), wholeSeconds(nowMs - startedAtMs)].join(', ');
      return [...treeLines([...phases.values()], nowMs, maxLines - 1), barLine([...phases.values()], spent)];
    },
  };
}

/** Where there is too little room, phases without work in them go first, then agents, those that began last. */
function treeLines(all: readonly Phase[], nowMs: number, maxLines: number): TextLine[] {
  const busy = all.filter(({ running, queued }) => running.size + queued > 0);
  const shown = (all.length + Math.min(2, busy.length) > maxLines ? busy : all).slice(0, Math.max(0, maxLines));
  let room = maxLines - shown.length;
  return shown.flatMap((phase, i) => {
    const fair = Math.ceil(room / Math.max(1, shown.slice(i).filter(({ running }) => running.size > 0).length));
    const below = agentLines([...phase.running.values()], nowMs, fair);
    room -= below.length;
    return [phaseLine(phase), ...below];
  });
}

function agentLines(agents: readonly Running[], nowMs: number, room: number): TextLine[] {
  if (room <= 0) return [];
  // With room for one, its phase already says how many there are.
  const shown = agents.length <= room ? agents : agents.slice(0, Math.max(1, room - 1));
  const more = room > 1 ? agents.length - shown.length : 0;
  return [
    ...shown.map(
      ({ label, sinceMs }): TextLine => ({
        tone: 'plain',
        text: `    ▶ ${wholeSeconds(nowMs - sinceMs)}  ${label}`,
      }),
    ),
    ...(more > 0 ? [{ tone: 'dim', text: `    … and ${formatCount(more)} more at work` } as const] : []),
  ];
}

/** Without tenths, which would flicker. */
function wholeSeconds(ms: number): string {
  return ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : formatDuration(ms);
}

function phaseLine({ title, running, queued, done, cached, failed, left }: Phase): TextLine {
  const counts = countsOf({ running: running.size, queued, done: done + cached, failed, left });
  const tone = running.size + queued > 0 ? 'heading' : 'dim';
  const name = title === '' ? 'agents' : title;
  return { tone, text: `  ▸ ${name}${counts === '' ? '' : `: ${counts}`}` };
}

function countsOf(counts: { running: number; queued: number; done: number; failed: number; left: number }): string {
  const parts: readonly (readonly [number, string])[] = [
    [counts.done, 'done'],
    [counts.failed, 'failed'],
    [counts.left, 'left out'],
    [counts.running, 'at work'],
    [counts.queued, 'waiting'],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${formatCount(count)} ${word}`)
    .join(', ');
}

function barLine(phases: readonly Phase[], spent: string): TextLine {
  const sum = (count: (phase: Phase) => number): number => phases.reduce((total, phase) => total + count(phase), 0);
  const over = sum(({ done, cached, failed, left }) => done + cached + failed + left);
  const all = over + sum(({ running, queued }) => running.size + queued);
  const full = all === 0 ? 0 : Math.round((over / all) * BAR_COLUMNS);
  const failed = sum((phase) => phase.failed);
  const counts = `${formatCount(over)} of ${formatCount(all)} agents${failed > 0 ? `, ${formatCount(failed)} failed` : ''}`;
  const bar = `${'█'.repeat(full)}${'░'.repeat(BAR_COLUMNS - full)}`;
  return { tone: failed > 0 ? 'warn' : 'good', text: `  ${bar} ${counts}, ${spent}` };
}
