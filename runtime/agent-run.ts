import { preview } from '../protocol/preview.ts';
import { isWorkflowError, WorkflowError } from '../protocol/workflow-error.ts';
import type {
  AgentBackend,
  AgentOutcome,
  AgentReporter,
  AgentRequest,
  AgentUsage,
  Clock,
  RunDirectory,
  TimerHandle,
  TranscriptRow,
  TransientFailure,
} from './ports.ts';
import type { Redactor } from './redact.ts';
import { LONGEST_RETRY_AFTER_MS, retryDelayMs } from './retry-policy.ts';
import type { ReleaseSlot, Slots } from './slots.ts';

/** What every agent of a run shares. */
export interface AgentContext {
  readonly backend: AgentBackend;
  readonly directory: RunDirectory;
  readonly slots: Slots;
  readonly clock: Clock;
  readonly random: () => number;
  readonly redactor: Redactor;
  readonly maxRetries: number;
  readonly transcripts: boolean;
}

/** How an agent ended, before it was written down. */
export type AgentEnd =
  | { readonly state: 'done'; readonly outcome: AgentOutcome }
  | { readonly state: 'error'; readonly error: WorkflowError }
  | { readonly state: 'cancelled' };

/**
 * One agent from its slot to its end: tells the backend to start, counts what it uses, waits out its retries, watches its
 * time, and aborts it when the run is over.
 */
export class AgentRun implements AgentReporter {
  readonly request: AgentRequest;
  inputTokens = 0;
  outputTokens = 0;
  toolUses = 0;
  /** Tries over the transport, from 1. */
  attempt = 1;
  startedAtMs = 0;
  readonly #context: AgentContext;
  readonly #timeoutMs: number | undefined;
  readonly #onUsage: (outputTokens: number) => void;
  readonly #abort = new AbortController();
  #abortError: WorkflowError | undefined;
  #release: ReleaseSlot = () => {};
  #active = false;
  #sentAtMs = 0;
  #toolStarts: Map<string, { name: string; atMs: number }> | undefined;

  constructor(
    request: AgentRequest,
    timeoutMs: number | undefined,
    context: AgentContext,
    onUsage: (outputTokens: number) => void,
  ) {
    this.request = request;
    this.#timeoutMs = timeoutMs;
    this.#context = context;
    this.#onUsage = onUsage;
  }

  get started(): boolean {
    return this.startedAtMs > 0;
  }

  /** Runs the agent in a slot it was given. Never rejects. */
  async run(release: ReleaseSlot): Promise<AgentEnd> {
    this.#release = release;
    if (this.#abortError !== undefined) return { state: 'cancelled' };
    this.startedAtMs = this.#sentAtMs = this.#context.clock.now();
    const timer = this.#watchTime();
    try {
      const outcome = await this.#context.backend.run(this.request, this.#abort.signal, this);
      this.#settleUsage(outcome);
      return { state: 'done', outcome };
    } catch (error) {
      return this.#endOf(error);
    } finally {
      timer?.cancel();
      this.#release();
    }
  }

  /** Ends the agent: at once when it waits, through its signal when it works. */
  abort(error: WorkflowError): void {
    this.#abortError ??= error;
    this.#abort.abort(this.#abortError);
  }

  alive(): void {
    if (this.#active) return;
    this.#active = true;
    this.#context.directory.events.append('agent.active', { key: this.request.key });
  }

  usage(delta: AgentUsage): void {
    this.inputTokens += delta.inputTokens;
    this.outputTokens += delta.outputTokens;
    this.#onUsage(delta.outputTokens);
  }

  toolStarted(toolUseId: string, name: string): void {
    this.toolUses += 1;
    this.#toolStarts ??= new Map();
    this.#toolStarts.set(toolUseId, { name, atMs: this.#context.clock.now() });
    this.#context.directory.events.append('agent.tool', {
      key: this.request.key,
      toolUseId,
      name,
      status: 'started',
    });
  }

  toolFinished(toolUseId: string, ok: boolean, summary?: string): void {
    const start = this.#toolStarts?.get(toolUseId);
    this.#toolStarts?.delete(toolUseId);
    this.#context.directory.events.append('agent.tool', {
      key: this.request.key,
      toolUseId,
      name: start?.name ?? 'unknown',
      status: ok ? 'completed' : 'failed',
      ...(start === undefined ? {} : { durationMs: this.#context.clock.now() - start.atMs }),
      ...(summary === undefined ? {} : { summary: preview(this.#context.redactor.text(summary)) }),
    });
  }

  transcript(row: TranscriptRow): void {
    if (this.#context.transcripts) this.#context.directory.agentFiles.appendTranscript(this.request.agentId, row);
  }

  async retry(failure: TransientFailure): Promise<void> {
    const { slots, clock, random, maxRetries, directory } = this.#context;
    this.#throwIfAborted();
    if ((failure.retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) throw quotaError(failure);
    if (this.attempt > maxRetries) throw exhaustedError(failure, maxRetries);
    const delayMs = retryDelayMs(failure, this.attempt, random());
    this.attempt += 1;
    if (failure.status === 429) slots.shrink(this.#sentAtMs, clock.now());
    directory.events.append('agent.retrying', {
      key: this.request.key,
      attempt: this.attempt,
      delayMs,
      reason: {
        code: 'AGENT_API',
        message: preview(this.#context.redactor.text(failure.message)),
        ...(failure.status === undefined ? {} : { status: failure.status }),
      },
      concurrency: slots.current,
    });
    this.#release();
    await this.#wait(delayMs);
    this.#release = await slots.take();
    this.#throwIfAborted();
    this.#sentAtMs = clock.now();
  }

  #wait(delayMs: number): Promise<void> {
    const { signal } = this.#abort;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        timer.cancel();
        reject(signal.reason);
      };
      const timer = this.#context.clock.after(delayMs, () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #watchTime(): TimerHandle | undefined {
    const timeoutMs = this.#timeoutMs;
    if (timeoutMs === undefined) return undefined;
    return this.#context.clock.after(timeoutMs, () =>
      this.abort(
        new WorkflowError(
          'AGENT_TIMED_OUT',
          `The agent "${this.request.label}" did not answer within ${timeoutMs} ms. Raise timeoutMs, or ask for less in one call.`,
        ),
      ),
    );
  }

  /** Trusts the outcome where the backend reported nothing, or less, while it ran. */
  #settleUsage({ usage, toolUses }: AgentOutcome): void {
    const missingOutput = usage.outputTokens - this.outputTokens;
    if (missingOutput > 0) this.usage({ inputTokens: 0, outputTokens: missingOutput });
    this.inputTokens = Math.max(this.inputTokens, usage.inputTokens);
    this.toolUses = Math.max(this.toolUses, toolUses);
  }

  #endOf(error: unknown): AgentEnd {
    const cause = this.#abortError ?? error;
    if (!isWorkflowError(cause)) {
      const message = error instanceof Error ? error.message : String(error);
      return { state: 'error', error: new WorkflowError('AGENT_API', message, { cause: error }) };
    }
    return cause.kind === 'cancelled' ? { state: 'cancelled' } : { state: 'error', error: cause };
  }

  #throwIfAborted(): void {
    if (this.#abortError === undefined) return;
    this.#release();
    throw this.#abortError;
  }
}

function quotaError(failure: TransientFailure): WorkflowError {
  const minutes = Math.round((failure.retryAfterMs ?? 0) / 60_000);
  return new WorkflowError(
    'AGENT_QUOTA',
    `The account's limit is reached: ${failure.message} The server asks to wait ${minutes} minutes.`,
    { data: { retryAfterMs: failure.retryAfterMs } },
  );
}

function exhaustedError(failure: TransientFailure, maxRetries: number): WorkflowError {
  const tries =
    maxRetries === 0 ? 'No retry is allowed' : `Gave up after ${maxRetries} ${maxRetries === 1 ? 'retry' : 'retries'}`;
  return new WorkflowError('AGENT_API', `${failure.message} ${tries} (--max-retries).`, {
    data: failure.status === undefined ? {} : { status: failure.status },
  });
}
