import { PREVIEW_CHARACTERS, preview, previewWithNote } from '../protocol/preview.ts';
import type { ErrorRecord } from '../protocol/workflow-error.ts';
import type { AgentContext, AgentRun } from './agent-run.ts';
import { agentIdOf } from './call-key.ts';
import type { CallOptions } from './call-options.ts';
import type { AgentOutcome } from './ports.ts';
import type { CallIdentity, StoredResult } from './replay-index.ts';

/** One `agent()` call that has its identity. */
export interface AgentCall {
  /** The sandbox's number for it. */
  readonly id: number;
  /** Counts the calls of this launch from 1. */
  readonly index: number;
  readonly identity: CallIdentity;
  readonly options: CallOptions;
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

  /** @param mostAttempts StructuredOutput calls an agent may use; an answer on the last one is marked */
  constructor(context: AgentContext, mostAttempts: number) {
    this.#context = context;
    this.#mostAttempts = mostAttempts;
  }

  queued(call: AgentCall): void {
    this.#context.events.append('agent.queued', this.#identity(call));
  }

  cached(call: AgentCall, stored: StoredResult): void {
    this.#context.events.append('agent.cached', {
      ...this.#identity(call),
      resultPreview: this.#resultPreview(stored.resultJson),
      ...(stored.resultJson === '""' ? { emptyResult: true } : {}),
    });
  }

  started(call: AgentCall): void {
    const { directory, events, clock, backend, transcripts } = this.#context;
    const { key } = call.identity;
    const agentId = agentIdOf(key);
    const at = clock.now();
    const { label, phase, scope } = call;
    directory.journal.append({
      type: 'started',
      key,
      agentId,
      ...occurrenceFields(call.identity),
      scope,
      label,
      phase,
      attempt: 1,
      at,
    });
    events.append('agent.started', { key, attempt: 1 });
    if (!transcripts) return;
    const { agentType, model } = call.options.agent;
    directory.agentFiles.writeMeta({
      key,
      agentId,
      type: agentType ?? 'workflow-subagent',
      label,
      phase,
      model: model ?? backend.model ?? null,
      attempt: 1,
      worktree: null,
      startedAt: at,
    });
  }

  /** Files the answer; resolves once it is on the disk and readers were told. */
  async answered(call: AgentCall, run: AgentRun, outcome: AgentOutcome): Promise<void> {
    const { directory, clock } = this.#context;
    const { key } = call.identity;
    const { attempts } = outcome;
    directory.journal.appendResult(
      {
        type: 'result',
        key,
        agentId: agentIdOf(key),
        ...occurrenceFields(call.identity),
        scope: call.scope,
        usage: { input_tokens: run.inputTokens, output_tokens: run.outputTokens, tool_uses: run.toolUses },
        attempts,
        ...(attempts > 1 && attempts === this.#mostAttempts ? { lastAttempt: true } : {}),
        at: clock.now(),
      },
      outcome.valueJson,
    );
    await directory.journal.durable();
    this.#finished(call, run, 'done', {
      attempts,
      resultPreview: this.#resultPreview(outcome.valueJson),
      ...(outcome.empty ? { emptyResult: true } : {}),
    });
  }

  failed(call: AgentCall, run: AgentRun, error: ErrorRecord): void {
    const { directory, clock } = this.#context;
    const { key } = call.identity;
    directory.journal.append({
      type: 'failed',
      key,
      agentId: agentIdOf(key),
      ...occurrenceFields(call.identity),
      scope: call.scope,
      error: { code: error.code, message: error.message },
      at: clock.now(),
    });
    this.#finished(call, run, 'error', { error });
  }

  /** A cancelled agent leaves no row: its `started` without a `result` runs again. */
  cancelled(call: AgentCall, run: AgentRun): void {
    this.#finished(call, run, 'cancelled', {});
  }

  /** It never had a slot. */
  cancelledInQueue(call: AgentCall): void {
    this.#context.events.append('agent.finished', {
      key: call.identity.key,
      state: 'cancelled',
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
    state: 'done' | 'error' | 'cancelled',
    details: { attempts?: number; resultPreview?: string; emptyResult?: true; error?: ErrorRecord },
  ): void {
    const { events, clock } = this.#context;
    events.append('agent.finished', {
      key: call.identity.key,
      state,
      inputTokens: run.inputTokens,
      outputTokens: run.outputTokens,
      toolUses: run.toolUses,
      attempts: 0,
      attempt: run.attempt,
      durationMs: clock.now() - run.startedAtMs,
      ...details,
    });
  }

  #identity(call: AgentCall) {
    const { backend, redactor } = this.#context;
    const { agent } = call.options;
    const model = agent.model ?? backend.model;
    const { key } = call.identity;
    return {
      key,
      agentId: agentIdOf(key),
      index: call.index,
      label: redactor.text(call.label),
      scope: call.scope,
      ...(call.phaseIndex === undefined || call.phase === null
        ? {}
        : { phaseIndex: call.phaseIndex, phaseTitle: call.phase }),
      ...(model === undefined ? {} : { model }),
      ...(agent.agentType === undefined ? {} : { agentType: agent.agentType }),
      ...(agent.isolation === undefined ? {} : { isolation: agent.isolation }),
      ...(call.workflow === null ? {} : { workflow: call.workflow }),
      promptPreview: preview(redactor.text(call.prompt)),
    };
  }

  #resultPreview(valueJson: string): string {
    const text = valueJson.startsWith('"') ? (JSON.parse(valueJson) as string) : valueJson;
    const shown = this.#context.redactor.text(text);
    return shown.length > PREVIEW_CHARACTERS ? previewWithNote(shown) : preview(shown);
  }
}

/** The members of a row that tell calls of one content apart; absent where they are 0. */
function occurrenceFields({ content, occurrence, ordinal }: CallIdentity): {
  occurrence?: number;
  content?: string;
  ordinal?: number;
} {
  if (occurrence === 0 && ordinal === 0) return {};
  return {
    ...(occurrence === 0 ? {} : { occurrence, content }),
    ...(ordinal === 0 ? {} : { ordinal }),
  };
}
