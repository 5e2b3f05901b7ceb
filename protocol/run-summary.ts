import type { Census, CoreEvent, CoreEventData, Usage } from './core-event.ts';
import type { KeptWorktree } from './kept-worktree.ts';
import type { Mutable } from './mutable.ts';
import { NO_AGENTS } from './nothing-used.ts';

/** One thing that went wrong, as `failures` of the output names it. Source: spec C-6. */
export interface RunFailure {
  readonly label: string;
  readonly code: string;
  readonly message: string;
}

/** A kept working copy, and whose it is. */
export interface LabelledWorktree extends KeptWorktree {
  readonly label: string;
}

export interface PhaseSummary {
  readonly index: number;
  readonly title: string;
  readonly kind?: 'child';
  /** US dollars that its agents cost so far; null when it is not known. Absent where they cost nothing. */
  readonly costUsd?: number | null;
}

/** What is known of one agent. `cached` is a finished state of its own here; the census counts it as done as well. */
export interface AgentSummary {
  readonly key: string;
  readonly agentId: string;
  readonly index: number;
  readonly label: string;
  readonly state: 'queued' | 'running' | 'done' | 'error' | 'skipped' | 'cancelled' | 'cached';
  readonly phaseIndex?: number;
  readonly phaseTitle?: string;
  readonly attempt: number;
  readonly tokens: number;
  readonly durationMs?: number;
  /** US dollars; null when it is not known. */
  readonly costUsd?: number | null;
  readonly error?: RunFailure;
}

export interface RunSummaryOptions {
  /** Keeps {@link RunSummary.agents}. Without it only agents in flight take memory. @defaultValue true */
  readonly keepAgents?: boolean;
}

/**
 * What the events of one launch come to, at any moment.
 *
 * Contract:
 * - `apply` takes constant time. A `run.started` begins anew, so folding a whole log gives its last launch.
 * - The arrays are live views: read them, copy them to keep them.
 */
export interface RunSummary {
  apply(event: CoreEvent): void;
  /** Source: spec A-19. */
  census(): Census;
  /** Tokens and tool uses so far; `duration_ms` runs from the start to `nowMs`. @defaultValue `nowMs` the last event */
  usage(nowMs?: number): Usage;
  readonly started: CoreEventData<'run.started'> | undefined;
  readonly finished: CoreEventData<'run.finished'> | undefined;
  readonly failures: readonly RunFailure[];
  readonly logs: readonly { readonly level: string; readonly text: string }[];
  readonly limitsHit: readonly string[];
  /** Working copies that agents left with changes in them. */
  readonly worktrees: readonly LabelledWorktree[];
  /** Those of `meta` first, then those that the script added; by index from 1. */
  readonly phases: readonly PhaseSummary[];
  /** In the order of their calls; empty without `keepAgents`. */
  readonly agents: readonly AgentSummary[];
  /** Agents that wait for a slot or have one. */
  readonly inFlight: number;
}

interface Fold {
  readonly keepAgents: boolean;
  startedAtMs: number;
  lastAtMs: number;
  started: CoreEventData<'run.started'> | undefined;
  finished: CoreEventData<'run.finished'> | undefined;
  readonly census: Census;
  inputTokens: number;
  outputTokens: number;
  toolUses: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** The part that is known. */
  costUsd: number;
  costIsKnown: boolean;
  readonly failures: RunFailure[];
  readonly logs: { level: string; text: string }[];
  readonly limitsHit: string[];
  readonly worktrees: LabelledWorktree[];
  readonly phases: Mutable<PhaseSummary>[];
  readonly agents: Mutable<AgentSummary>[];
  /** By key; labels alone when details are not kept. */
  readonly open: Map<string, Mutable<AgentSummary> | string>;
}

/** Makes an empty {@link RunSummary}. */
export function createRunSummary(options: RunSummaryOptions = {}): RunSummary {
  let fold = emptyFold(options.keepAgents ?? true);
  return {
    apply(event) {
      if (event.type === 'run.started') fold = emptyFold(fold.keepAgents);
      applyEvent(fold, event);
    },
    census: () => ({ ...fold.census }),
    usage: (nowMs = fold.lastAtMs) => ({
      input_tokens: fold.inputTokens,
      output_tokens: fold.outputTokens,
      total_tokens: fold.inputTokens + fold.outputTokens,
      tool_uses: fold.toolUses,
      duration_ms: Math.max(0, Math.round(nowMs - fold.startedAtMs)),
      ...(fold.cacheReadTokens === 0 ? {} : { cache_read_tokens: fold.cacheReadTokens }),
      ...(fold.cacheWriteTokens === 0 ? {} : { cache_write_tokens: fold.cacheWriteTokens }),
      ...costsIn(fold),
    }),
    get started() {
      return fold.started;
    },
    get finished() {
      return fold.finished;
    },
    get failures() {
      return fold.failures;
    },
    get logs() {
      return fold.logs;
    },
    get limitsHit() {
      return fold.limitsHit;
    },
    get worktrees() {
      return fold.worktrees;
    },
    get phases() {
      return fold.phases;
    },
    get agents() {
      return fold.agents;
    },
    get inFlight() {
      return fold.open.size;
    },
  };
}

/** Folds the events of one launch, or of a whole log, whose last launch then counts. */
export function summarizeRun(events: Iterable<CoreEvent>, options: RunSummaryOptions = {}): RunSummary {
  const summary = createRunSummary(options);
  for (const event of events) summary.apply(event);
  return summary;
}

function emptyFold(keepAgents: boolean): Fold {
  return {
    keepAgents,
    startedAtMs: 0,
    lastAtMs: 0,
    started: undefined,
    finished: undefined,
    census: { ...NO_AGENTS },
    inputTokens: 0,
    outputTokens: 0,
    toolUses: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    costUsd: 0,
    costIsKnown: true,
    failures: [],
    logs: [],
    limitsHit: [],
    worktrees: [],
    phases: [],
    agents: [],
    open: new Map(),
  };
}

function applyEvent(fold: Fold, event: CoreEvent): void {
  fold.lastAtMs = event.at;
  if (fold.startedAtMs === 0) fold.startedAtMs = event.at;
  switch (event.type) {
    case 'run.started':
      fold.started = event.data;
      event.data.workflow.phases.forEach(({ title }, at) => {
        fold.phases.push({ index: at + 1, title });
      });
      return;
    case 'phase.started':
      addPhase(fold, event.data);
      return;
    case 'agent.queued':
      fold.census.agent_count++;
      fold.open.set(event.data.key, fold.keepAgents ? keepAgent(fold, event.data, 'queued') : event.data.label);
      return;
    case 'agent.started':
      if (fold.keepAgents) changeAgent(fold, event.data.key, { state: 'running', attempt: event.data.attempt });
      return;
    case 'agent.finished':
      finishAgent(fold, event.data);
      return;
    case 'agent.cached':
      fold.census.agent_count++;
      fold.census.agents_done++;
      fold.census.agents_cached++;
      if (event.data.emptyResult === true) fold.census.agents_empty_result++;
      if (event.data.worktree !== undefined) fold.worktrees.push({ label: event.data.label, ...event.data.worktree });
      if (fold.keepAgents) keepAgent(fold, event.data, 'cached');
      return;
    case 'part.failed':
      fold.failures.push({
        label: partLabel(event.data),
        code: event.data.error.code,
        message: event.data.error.message,
      });
      return;
    case 'log':
      fold.logs.push({ level: event.data.level, text: event.data.text });
      return;
    case 'limit':
      if (!fold.limitsHit.includes(event.data.code)) fold.limitsHit.push(event.data.code);
      return;
    case 'run.finished':
      fold.finished = event.data;
      return;
    case 'agent.active':
    case 'agent.retrying':
    case 'agent.tool':
      return;
    default:
      event satisfies never; // a newer log may hold types that this version does not know; they change nothing
  }
}

function addPhase(fold: Fold, { index, title, kind }: CoreEventData<'phase.started'>): void {
  if (fold.phases.some((phase) => phase.index === index)) return;
  fold.phases.push({ index, title, ...(kind === undefined ? {} : { kind }) });
}

function keepAgent(
  fold: Fold,
  who: CoreEventData<'agent.queued'>,
  state: AgentSummary['state'],
): Mutable<AgentSummary> {
  const agent: Mutable<AgentSummary> = {
    key: who.key,
    agentId: who.agentId,
    index: who.index,
    label: who.label,
    state,
    ...(who.phaseIndex === undefined ? {} : { phaseIndex: who.phaseIndex }),
    ...(who.phaseTitle === undefined ? {} : { phaseTitle: who.phaseTitle }),
    attempt: 0,
    tokens: 0,
  };
  fold.agents.push(agent);
  return agent;
}

function changeAgent(fold: Fold, key: string, change: Partial<Mutable<AgentSummary>>): void {
  const agent = fold.open.get(key);
  if (typeof agent === 'object') Object.assign(agent, change);
}

function finishAgent(fold: Fold, data: CoreEventData<'agent.finished'>): void {
  const { census } = fold;
  fold.inputTokens += data.inputTokens;
  fold.outputTokens += data.outputTokens;
  fold.toolUses += data.toolUses;
  if (data.cacheReadTokens !== undefined) fold.cacheReadTokens += data.cacheReadTokens;
  if (data.cacheWriteTokens !== undefined) fold.cacheWriteTokens += data.cacheWriteTokens;
  if (data.costUsd !== undefined) addCost(fold, data.costUsd, data.phaseIndex);
  if (data.emptyResult === true) census.agents_empty_result++;
  switch (data.state) {
    case 'done':
      census.agents_done++;
      break;
    case 'error':
      census.agents_error++;
      break;
    case 'skipped':
      census.agents_skipped++;
      break;
    case 'cancelled':
      census.agents_cancelled++;
      break;
    default:
      data.state satisfies never;
  }
  const agent = fold.open.get(data.key);
  const label = typeof agent === 'string' ? agent : (agent?.label ?? data.key);
  const failure =
    data.state === 'error'
      ? { label, code: data.error?.code ?? 'AGENT_API', message: data.error?.message ?? 'no reason was recorded' }
      : undefined;
  if (failure !== undefined) fold.failures.push(failure);
  if (data.worktree !== undefined) fold.worktrees.push({ label, ...data.worktree });
  if (fold.keepAgents) {
    changeAgent(fold, data.key, {
      state: data.state,
      tokens: data.inputTokens + data.outputTokens,
      durationMs: data.durationMs,
      ...(data.costUsd === undefined ? {} : { costUsd: data.costUsd }),
      ...(failure === undefined ? {} : { error: failure }),
    });
  }
  fold.open.delete(data.key);
}

function addCost(fold: Fold, costUsd: number | null, phaseIndex: number | undefined): void {
  if (costUsd === null) fold.costIsKnown = false;
  else fold.costUsd += costUsd;
  const phase = phaseIndex === undefined ? undefined : fold.phases.find(({ index }) => index === phaseIndex);
  if (phase === undefined) return;
  const before = phase.costUsd === undefined ? 0 : phase.costUsd;
  phase.costUsd = before === null || costUsd === null ? null : toMillionth(before + costUsd);
}

/** Nothing where agents cost nothing. */
function costsIn({ started, costUsd, costIsKnown }: Fold): Partial<Usage> {
  if (started?.pricesAsOf === undefined) return {};
  const { earlierCostUsd: earlier } = started;
  const spent = toMillionth(costUsd);
  const total = earlier === null || !costIsKnown ? null : toMillionth((earlier ?? 0) + costUsd);
  return {
    cost_usd: costIsKnown ? spent : null,
    ...(costIsKnown ? {} : { cost_at_least_usd: spent }),
    ...(earlier === undefined ? {} : { total_cost_usd: total }),
  };
}

function toMillionth(usd: number): number {
  return Math.round(usd * 1_000_000) / 1_000_000;
}

function partLabel({ helper, index, stage }: CoreEventData<'part.failed'>): string {
  return stage === undefined ? `${helper} item ${index}` : `${helper} item ${index}, stage ${stage}`;
}
