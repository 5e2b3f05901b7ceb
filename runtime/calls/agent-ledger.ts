import type { CoreEventData } from '../../protocol/core-event.ts';
import type { FailedRow, StartedRow } from '../../protocol/journal-row.ts';
import type { Mutable } from '../../protocol/mutable.ts';
import { PREVIEW_CHARACTERS, preview, previewWithNote } from '../../protocol/preview.ts';
import type { ResultSource } from '../../protocol/result-source.ts';
import type { ErrorRecord } from '../../protocol/workflow-error.ts';
import { agentCost } from '../costs/cost-meter.ts';
import type { AgentOutcome, AgentRequest, ResultRowHead, WorktreePlace } from '../ports.ts';
import type { CallIdentity } from '../replay/replay-index.ts';
import type { ReusedResult } from '../replay/reuse.ts';
import type { AgentContext, AgentRun } from './agent-run.ts';
import { agentIdOf } from './call-key.ts';
import type { CallOptions } from './call-options.ts';

/** One `agent()` call that has its identity. */
export interface AgentCall {
  /** The sandbox's number for it. */
  readonly id: number;
  /** Counts the calls of this launch from 1. */
  readonly index: number;
  readonly identity: CallIdentity;
  /** A policy may change what concerns the agent alone. */
  options: CallOptions;
  readonly prompt: string;
  readonly scope: string;
  readonly label: string;
  readonly phase: string | null;
  readonly phaseIndex: number | undefined;
  readonly workflow: string | null;
}

/** Writes down what becomes of each call: rows for the resume, events for the readers, files for the curious. */
export class AgentLedger {
  readonly #context: AgentContext;
  readonly #mostAttempts: number;
  readonly #onFatal: (error: unknown) => void;
  #unsynced: (() => void)[] = [];

  /**
   * @param mostAttempts StructuredOutput calls an agent may use; an answer on the last one is marked
   * @param onFatal told when the disk refuses an answer
   */
  constructor(context: AgentContext, mostAttempts: number, onFatal: (error: unknown) => void) {
    this.#context = context;
    this.#mostAttempts = mostAttempts;
    this.#onFatal = onFatal;
  }

  queued(call: AgentCall): void {
    this.#context.events.append('agent.queued', this.#identity(call));
  }

  cached(call: AgentCall, resultJson: string, source?: ResultSource): void {
    const data: Mutable<CoreEventData<'agent.cached'>> = this.#identity(call);
    const worktree = call.identity.stored?.worktree;
    if (worktree !== undefined) data.worktree = worktree;
    data.resultPreview = this.#resultPreview(resultJson);
    if (resultJson === '""') data.emptyResult = true;
    if (source !== undefined) data.source = source;
    this.#context.events.append('agent.cached', data);
  }

  /** Files an answer from outside the journal as this run's own, and calls `then` as {@link answered} does. */
  reused(call: AgentCall, { valueJson, attempts, source }: ReusedResult, then: () => void): void {
    const { directory, clock } = this.#context;
    const { key } = call.identity;
    const head: Mutable<ResultRowHead> = {
      type: 'result',
      key,
      agentId: agentIdOf(key),
      scope: call.scope,
      usage: { input_tokens: 0, output_tokens: 0, tool_uses: 0 },
      attempts,
      source,
      at: clock.now(),
    };
    addOccurrence(head, call.identity);
    directory.journal.appendResult(head, valueJson);
    this.#onceSynced(() => {
      this.cached(call, valueJson, source);
      then();
    });
  }

  started(call: AgentCall, run: AgentRun): void {
    const { directory, events, clock, transcripts } = this.#context;
    const { key, agentId } = run.request;
    const at = clock.now();
    const { label, phase, scope } = call;
    const row: Mutable<StartedRow> = { type: 'started', key, agentId, scope, label, phase, attempt: 1, at };
    addOccurrence(row, call.identity);
    directory.journal.append(row);
    events.append('agent.started', { key, attempt: 1 });
    if (transcripts) this.#writeMeta(run.request, at);
  }

  /** The agent begins in a working copy of its own. */
  movedIn(run: AgentRun, worktree: WorktreePlace): void {
    if (!this.#context.transcripts) return;
    this.#writeMeta(run.request, run.startedAtMs, worktree);
    run.transcript?.({ type: 'note', text: 'has a worktree of its own', ...place(worktree) });
  }

  #writeMeta(request: AgentRequest, startedAt: number, worktree?: WorktreePlace): void {
    const { directory, backend } = this.#context;
    const { key, agentId, label, phase, options } = request;
    const { agentType, model } = options;
    directory.agentFiles.writeMeta({
      key,
      agentId,
      type: agentType ?? 'workflow-subagent',
      label,
      phase,
      model: model ?? backend.model ?? null,
      attempt: 1,
      worktree: worktree?.path ?? null,
      ...(worktree === undefined ? {} : { branch: worktree.branch }),
      startedAt,
    });
  }

  /** Files the answer, and calls `then` once it is on the disk and readers were told. */
  answered(call: AgentCall, run: AgentRun, outcome: AgentOutcome, then: () => void): void {
    const { directory, clock } = this.#context;
    const { key } = call.identity;
    const { attempts } = outcome;
    const head: Mutable<ResultRowHead> = {
      type: 'result',
      key,
      agentId: agentIdOf(key),
      scope: call.scope,
      usage: { input_tokens: run.inputTokens, output_tokens: run.outputTokens, tool_uses: run.toolUses },
      attempts,
      at: clock.now(),
    };
    addOccurrence(head, call.identity);
    if (run.spend !== undefined) head.usage.cost_usd = agentCost(run.spend);
    if (attempts > 1 && attempts === this.#mostAttempts) head.lastAttempt = true;
    if (run.keptWorktree !== undefined) head.worktree = place(run.keptWorktree);
    directory.journal.appendResult(head, outcome.valueJson);
    this.#onceSynced(() => {
      this.#finished(call, run, 'done', { attempts, valueJson: outcome.valueJson, empty: outcome.empty });
      then();
    });
  }

  #onceSynced(then: () => void): void {
    if (this.#unsynced.length === 0) setImmediate(() => this.#unsynced.length > 0 && void this.filed());
    this.#unsynced.push(then);
  }

  /** Resolves when the answers so far are on the disk and told of. One wait for all of a turn of the event loop. */
  async filed(): Promise<void> {
    const batch = this.#unsynced;
    this.#unsynced = [];
    try {
      await this.#context.directory.journal.durable();
      for (const tell of batch) tell();
    } catch (error) {
      this.#onFatal(error);
    }
  }

  failed(call: AgentCall, run: AgentRun, error: ErrorRecord): void {
    const { directory, clock } = this.#context;
    const { key } = call.identity;
    const { code, message } = error;
    const row: Mutable<FailedRow> = {
      type: 'failed',
      key,
      agentId: agentIdOf(key),
      scope: call.scope,
      error: { code, message },
      at: clock.now(),
    };
    if (run.spend !== undefined) row.cost_usd = agentCost(run.spend);
    addOccurrence(row, call.identity);
    directory.journal.append(row);
    this.#finished(call, run, code === 'AGENT_SKIPPED' ? 'skipped' : 'error', { error });
  }

  /** A cancelled agent leaves no row: its `started` without a `result` runs again. */
  cancelled(call: AgentCall, run: AgentRun): void {
    this.#finished(call, run, 'cancelled', {});
  }

  /** It never had a slot. */
  cancelledInQueue(call: AgentCall): void {
    this.#neverStarted(call, 'cancelled');
  }

  /** It was refused before it could cost anything. */
  refused(call: AgentCall, error: ErrorRecord): void {
    this.#neverStarted(call, 'error', error);
  }

  #neverStarted(call: AgentCall, state: 'cancelled' | 'error', error?: ErrorRecord): void {
    this.#context.events.append('agent.finished', {
      ...(error === undefined ? {} : { error }),
      key: call.identity.key,
      state,
      inputTokens: 0,
      outputTokens: 0,
      toolUses: 0,
      attempts: 0,
      attempt: 0,
      durationMs: 0,
    });
  }

  #finished(
    call: AgentCall,
    run: AgentRun,
    state: 'done' | 'error' | 'skipped' | 'cancelled',
    details: {
      readonly attempts?: number;
      readonly valueJson?: string;
      readonly empty?: boolean;
      readonly error?: ErrorRecord;
    },
  ): void {
    const { events, clock } = this.#context;
    const data: Mutable<CoreEventData<'agent.finished'>> = {
      key: call.identity.key,
      state,
      inputTokens: run.inputTokens,
      outputTokens: run.outputTokens,
      toolUses: run.toolUses,
      attempts: details.attempts ?? 0,
      attempt: run.attempt,
      durationMs: clock.now() - run.startedAtMs,
    };
    if (run.cacheReadTokens > 0) data.cacheReadTokens = run.cacheReadTokens;
    if (run.cacheWriteTokens > 0) data.cacheWriteTokens = run.cacheWriteTokens;
    if (run.spend !== undefined) {
      data.costUsd = agentCost(run.spend);
      if (call.phaseIndex !== undefined) data.phaseIndex = call.phaseIndex;
    }
    if (details.valueJson !== undefined) data.resultPreview = this.#resultPreview(details.valueJson);
    if (details.empty === true) data.emptyResult = true;
    if (details.error !== undefined) data.error = details.error;
    if (run.keptWorktree !== undefined) data.worktree = place(run.keptWorktree);
    events.append('agent.finished', data);
  }

  #identity(call: AgentCall): Mutable<CoreEventData<'agent.queued'>> {
    const { backend, redactor } = this.#context;
    const { agent } = call.options;
    const { key } = call.identity;
    const data: Mutable<CoreEventData<'agent.queued'>> = {
      key,
      agentId: agentIdOf(key),
      index: call.index,
      label: redactor.text(call.label),
      scope: call.scope,
      promptPreview: preview(redactor.text(call.prompt)),
    };
    const model = agent.model ?? backend.model;
    if (model !== undefined) data.model = model;
    if (call.phaseIndex !== undefined && call.phase !== null) {
      data.phaseIndex = call.phaseIndex;
      data.phaseTitle = call.phase;
    }
    if (agent.agentType !== undefined) data.agentType = agent.agentType;
    if (agent.isolation !== undefined) data.isolation = agent.isolation;
    if (call.workflow !== null) data.workflow = call.workflow;
    return data;
  }

  #resultPreview(valueJson: string): string {
    const text = valueJson.startsWith('"') ? (JSON.parse(valueJson) as string) : valueJson;
    const shown = this.#context.redactor.text(text);
    return shown.length > PREVIEW_CHARACTERS ? previewWithNote(shown) : preview(shown);
  }
}

function place({ path, branch }: WorktreePlace): { readonly path: string; readonly branch: string } {
  return { path, branch };
}

/** Adds what tells calls of one content apart, where it is not 0. */
function addOccurrence(
  row: { occurrence?: number | undefined; content?: string | undefined; ordinal?: number | undefined },
  { content, occurrence, ordinal }: CallIdentity,
): void {
  if (occurrence !== 0) {
    row.occurrence = occurrence;
    row.content = content;
  }
  if (ordinal !== 0) row.ordinal = ordinal;
}
