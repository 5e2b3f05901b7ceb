import { preview } from '../protocol/preview.ts';
import { type ErrorRecord, toErrorRecord, WorkflowError } from '../protocol/workflow-error.ts';
import { type AgentContext, type AgentEnd, AgentRun } from './agent-run.ts';
import { agentIdOf } from './call-key.ts';
import { type CallOptions, CallOptionsError, readCallOptions } from './call-options.ts';
import type { NamedSchemas } from './named-schemas.ts';
import type { Phases } from './phases.ts';
import type { AgentOutcome } from './ports.ts';
import type { CallIdentity, ReplayIndex, StoredResult } from './replay-index.ts';
import type { RunLimits } from './run-options.ts';
import type { GuestAgentCall, SandboxAnswer } from './sandbox/sandbox.ts';

export interface AgentCallsOptions extends AgentContext {
  readonly limits: RunLimits;
  readonly replay: ReplayIndex;
  readonly phases: Phases;
  readonly schemas: NamedSchemas;
  /** Working directory of the agents. */
  readonly cwd: string;
  answer(id: number, answer: SandboxAnswer, spent: number): void;
  log(level: 'warn' | 'error', text: string): void;
  /** A limit refused a call. */
  onLimit(error: WorkflowError): void;
  /** An error that every further agent would meet; called once those in flight have ended. */
  onBroken(error: WorkflowError): void;
  /** The state can no longer be written. */
  onFatal(error: unknown): void;
  /** The first call whose content no earlier launch met. */
  onNewContent?(label: string): void;
}

/** One call that has its identity. */
interface Call {
  readonly id: number;
  readonly index: number;
  readonly identity: CallIdentity;
  readonly options: CallOptions;
  readonly scope: string;
  readonly label: string;
  readonly phase: string | null;
  readonly phaseIndex: number | undefined;
  readonly workflow: string | null;
  readonly prompt: string;
}

/** Codes that make the call `null`: the agent died, which is no answer and no fault of the script. */
const NULL_CODES: ReadonlySet<string> = new Set(['AGENT_API', 'AGENT_NO_RESPONSE', 'AGENT_STALLED']);
/** Codes that stop the run: every further agent would meet them. */
const BREAKER_CODES: ReadonlySet<string> = new Set(['AGENT_AUTH', 'AGENT_QUOTA']);
const LABEL_LENGTH = 60;

/** Takes the agent calls of a run in the order the script made them, and answers each from the journal or from an agent. */
export class AgentCalls {
  /** Output tokens of live agents so far. */
  spent = 0;
  /** Agents that ended in an error. */
  failedCount = 0;
  readonly #options: AgentCallsOptions;
  readonly #open = new Map<AgentRun, Call>();
  readonly #warned = new Set<string>();
  #count = 0;
  #running = 0;
  #broken: WorkflowError | undefined;
  #closing: WorkflowError | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(options: AgentCallsOptions) {
    this.#options = options;
  }

  /** Agents that have not ended. */
  get openCount(): number {
    return this.#open.size;
  }

  handle(guestCall: GuestAgentCall): void {
    if (this.#closing !== undefined || this.#broken !== undefined) return;
    let options: CallOptions;
    try {
      options = readCallOptions(guestCall.optsJson, this.#options.schemas);
    } catch (error) {
      this.#refuse(guestCall.id, error);
      return;
    }
    for (const warning of options.warnings) this.#warnOnce(warning);
    const limit = this.#limitReached();
    if (limit !== undefined) {
      this.#options.onLimit(limit);
      this.#answerError(guestCall.id, limit, true);
      return;
    }
    const call = this.#identify(guestCall, options);
    const { stored } = call.identity;
    if (stored !== undefined && this.#stillValid(call, stored)) this.#answerFromJournal(call, stored);
    else this.#queue(call);
  }

  /** Aborts every open agent and resolves when all have ended. Later calls are dropped. */
  close(reason: WorkflowError): Promise<void> {
    this.#closing = reason;
    for (const [run, call] of [...this.#open]) {
      if (run.started) run.abort(reason);
      else this.#cancelQueued(run, call, reason);
    }
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  #cancelQueued(run: AgentRun, call: Call, reason: WorkflowError): void {
    run.abort(reason);
    this.#finished(run, call, 'cancelled', {});
    this.#close(run);
  }

  #identify(guestCall: GuestAgentCall, options: CallOptions): Call {
    const { replay, phases } = this.#options;
    const identity = replay.identify(guestCall.prompt, options.canonical, guestCall.scope);
    const phase = options.phase ?? guestCall.phase;
    this.#count += 1;
    const label = options.label ?? defaultLabel(guestCall.prompt);
    if (replay.size > 0 && !replay.knows(identity.content)) this.#options.onNewContent?.(label);
    return {
      id: guestCall.id,
      index: this.#count,
      identity,
      options,
      scope: guestCall.scope,
      label,
      phase,
      phaseIndex: phase === null ? undefined : phases.enter(phase),
      workflow: guestCall.workflow,
      prompt: guestCall.prompt,
    };
  }

  #limitReached(): WorkflowError | undefined {
    const { maxAgents, budget } = this.#options.limits;
    if (this.#count >= maxAgents) {
      return new WorkflowError(
        'LIMIT_AGENT_COUNT',
        `The run has started ${maxAgents} agents, which is its limit. Raise it with --max-agents and resume; finished agents cost nothing again.`,
        { data: { limit: maxAgents } },
      );
    }
    if (budget !== null && this.spent >= budget) {
      return new WorkflowError(
        'LIMIT_BUDGET',
        `The run has spent ${this.spent} output tokens of its budget of ${budget}. Raise it with --budget and resume; finished agents cost nothing again.`,
        { data: { spent: this.spent, budget } },
      );
    }
    return undefined;
  }

  /** A cached value is checked against the schema again; an invalid one runs live. */
  #stillValid(call: Call, stored: StoredResult): boolean {
    const { output } = call.options;
    if (output === undefined || output.accepts(stored.resultJson)) return true;
    this.#options.log('warn', `The stored answer of "${call.label}" no longer fits its schema; it runs again.`);
    return false;
  }

  #answerFromJournal(call: Call, stored: StoredResult): void {
    const { directory } = this.#options;
    const empty = stored.resultJson === '""';
    directory.events.append('agent.cached', {
      ...this.#eventIdentity(call),
      resultPreview: this.#resultPreview(stored.resultJson),
      ...(empty ? { emptyResult: true } : {}),
    });
    this.#answerValue(call, stored.resultJson);
  }

  #queue(call: Call): void {
    const { directory, slots, cwd, limits } = this.#options;
    const { options, identity } = call;
    const run = new AgentRun(
      {
        key: identity.key,
        agentId: agentIdOf(identity.key),
        prompt: call.prompt,
        label: call.label,
        phase: call.phase,
        options: options.agent,
        output: options.output,
        maxStructuredOutputRetries: limits.maxStructuredOutputRetries,
        cwd,
      },
      options,
      this.#options,
      (outputTokens) => {
        this.spent += outputTokens;
      },
    );
    this.#open.set(run, call);
    directory.events.append('agent.queued', this.#eventIdentity(call));
    slots.run(async (release) => {
      if (!this.#open.has(run) || this.#broken !== undefined) return;
      this.#running += 1;
      this.#started(run, call);
      const end = await run.run(release);
      this.#running -= 1;
      this.#settle(run, call, end);
      this.#close(run);
    });
  }

  #started(run: AgentRun, call: Call): void {
    const { directory, clock, backend, transcripts } = this.#options;
    const { key, agentId } = run.request;
    const at = clock.now();
    directory.journal.append({
      type: 'started',
      key,
      agentId,
      ...contentFields(call.identity),
      scope: call.scope,
      label: call.label,
      phase: call.phase,
      attempt: run.attempt,
      at,
    });
    directory.events.append('agent.started', { key, attempt: run.attempt });
    if (!transcripts) return;
    directory.agentFiles.writeMeta({
      key,
      agentId,
      type: call.options.agent.agentType ?? 'workflow-subagent',
      label: call.label,
      phase: call.phase,
      model: call.options.agent.model ?? backend.model ?? null,
      attempt: run.attempt,
      worktree: null,
      startedAt: at,
    });
  }

  #settle(run: AgentRun, call: Call, end: AgentEnd): void {
    switch (end.state) {
      case 'done':
        this.#succeeded(run, call, end.outcome);
        return;
      case 'cancelled':
        this.#finished(run, call, 'cancelled', {});
        return;
      case 'error':
        this.#failed(run, call, end.error);
        return;
    }
  }

  #succeeded(run: AgentRun, call: Call, outcome: AgentOutcome): void {
    const { directory, clock, slots, limits } = this.#options;
    slots.succeeded();
    const { key, agentId } = run.request;
    directory.journal.appendResult(
      {
        type: 'result',
        key,
        agentId,
        ...contentFields(call.identity),
        scope: call.scope,
        usage: { input_tokens: run.inputTokens, output_tokens: run.outputTokens, tool_uses: run.toolUses },
        attempts: outcome.attempts,
        ...(outcome.attempts > 1 && outcome.attempts === limits.maxStructuredOutputRetries
          ? { lastAttempt: true }
          : {}),
        at: clock.now(),
      },
      outcome.valueJson,
    );
    // The script sees the value only once it is on the disk.
    directory.journal.durable().then(() => {
      this.#finished(run, call, 'done', {
        attempts: outcome.attempts,
        resultPreview: this.#resultPreview(outcome.valueJson),
        ...(outcome.empty ? { emptyResult: true } : {}),
      });
      this.#answerValue(call, outcome.valueJson);
    }, this.#options.onFatal);
  }

  #failed(run: AgentRun, call: Call, error: WorkflowError): void {
    const { directory, clock, log } = this.#options;
    const { key, agentId } = run.request;
    const record = this.#redacted(toErrorRecord(error));
    directory.journal.append({
      type: 'failed',
      key,
      agentId,
      ...contentFields(call.identity),
      scope: call.scope,
      error: { code: record.code, message: record.message },
      at: clock.now(),
    });
    this.failedCount += 1;
    this.#finished(run, call, 'error', { error: record });
    log('error', `Agent "${call.label}" failed: ${record.message} [${record.code}]`);
    if (BREAKER_CODES.has(error.code)) this.#break(error);
    else if (NULL_CODES.has(error.code)) this.#answer(call.id, { ok: true, valueJson: 'null' });
    else this.#answerError(call.id, error, false);
  }

  /** No new request leaves from here on; agents whose request is under way may finish. */
  #break(error: WorkflowError): void {
    if (this.#broken !== undefined) return;
    this.#broken = error;
    for (const [run] of this.#open) if (run.waiting) run.abort(new WorkflowError('RUN_CANCELLED', error.message));
  }

  /** The agent is over: when the run is broken or closing, the last one tells. */
  #close(run: AgentRun): void {
    this.#open.delete(run);
    if (this.#closing !== undefined) {
      if (this.#open.size === 0) this.#onEmpty?.();
    } else if (this.#broken !== undefined && this.#running === 0) {
      this.#options.onBroken(this.#broken);
    }
  }

  #finished(
    run: AgentRun,
    call: Call,
    state: 'done' | 'error' | 'cancelled',
    details: { attempts?: number; resultPreview?: string; emptyResult?: true; error?: ErrorRecord },
  ): void {
    this.#options.directory.events.append('agent.finished', {
      key: call.identity.key,
      state,
      inputTokens: run.inputTokens,
      outputTokens: run.outputTokens,
      toolUses: run.toolUses,
      attempts: details.attempts ?? 0,
      attempt: run.attempt,
      durationMs: run.started ? this.#options.clock.now() - run.startedAtMs : 0,
      ...details,
    });
  }

  #eventIdentity(call: Call) {
    const { agent } = call.options;
    const model = agent.model ?? this.#options.backend.model;
    return {
      key: call.identity.key,
      agentId: agentIdOf(call.identity.key),
      index: call.index,
      label: this.#options.redactor.text(call.label),
      scope: call.scope,
      ...(call.phaseIndex === undefined || call.phase === null
        ? {}
        : { phaseIndex: call.phaseIndex, phaseTitle: call.phase }),
      ...(model === undefined ? {} : { model }),
      ...(agent.agentType === undefined ? {} : { agentType: agent.agentType }),
      ...(agent.isolation === undefined ? {} : { isolation: agent.isolation }),
      ...(call.workflow === null ? {} : { workflow: call.workflow }),
      promptPreview: preview(this.#options.redactor.text(call.prompt)),
    };
  }

  #resultPreview(valueJson: string): string {
    const text = valueJson.startsWith('"') ? (JSON.parse(valueJson) as string) : valueJson;
    return preview(this.#options.redactor.text(text));
  }

  #redacted(record: ErrorRecord): ErrorRecord {
    return { ...record, message: this.#options.redactor.text(record.message) };
  }

  #refuse(id: number, error: unknown): void {
    if (!(error instanceof CallOptionsError)) {
      this.#options.onFatal(error);
      return;
    }
    this.#answer(id, { ok: false, error: { name: 'TypeError', code: 'AGENT_OPTIONS', message: error.message } });
  }

  #answerError(id: number, error: WorkflowError, passesThrough: boolean): void {
    this.#answer(id, {
      ok: false,
      error: {
        name: 'WorkflowError',
        code: error.code,
        message: error.message,
        ...(error.data === undefined ? {} : { data: error.data }),
        ...(passesThrough ? { passesThrough } : {}),
      },
    });
  }

  #answerValue(call: Call, valueJson: string): void {
    const { transform } = call.options;
    this.#answer(call.id, { ok: true, valueJson: transform === undefined ? valueJson : transform(valueJson) });
  }

  #answer(id: number, answer: SandboxAnswer): void {
    this.#options.answer(id, answer, this.spent);
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#options.log('warn', text);
  }
}

function contentFields({ content, occurrence, ordinal }: CallIdentity): {
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

/** The first characters of the prompt, white space folded. */
function defaultLabel(prompt: string): string {
  const start = prompt.length > 400 ? prompt.slice(0, 400) : prompt;
  return preview(start.replace(/\s+/g, ' ').trim(), LABEL_LENGTH);
}
