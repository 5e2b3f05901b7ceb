import { preview } from '../../protocol/preview.ts';
import { tokenCount } from '../../protocol/token-count.ts';
import { isWorkflowError, WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentSpend, CostMeter } from '../costs/cost-meter.ts';
import type { EventWriter } from '../counted-events.ts';
import type {
  AgentBackend,
  AgentOutcome,
  AgentReporter,
  AgentRequest,
  AgentUsage,
  Clock,
  Redactor,
  RunDirectory,
  TimerHandle,
  TranscriptRow,
  TransientFailure,
  Worktree,
  WorktreePlace,
  Worktrees,
} from '../ports.ts';
import { openWorktree } from './open-worktree.ts';
import { exhaustedError, LONGEST_RETRY_AFTER_MS, quotaError, retryDelayMs } from './retry-policy.ts';
import type { ReleaseSlot, Slots } from './slots.ts';
import type { StallWatch, Watched } from './stall-watch.ts';

/** What every agent of a run shares. */
export interface AgentContext {
  readonly backend: AgentBackend;
  readonly directory: RunDirectory;
  readonly events: EventWriter;
  readonly slots: Slots;
  readonly stallWatch: StallWatch;
  readonly clock: Clock;
  readonly random: () => number;
  readonly redactor: Redactor;
  readonly maxRetries: number;
  readonly transcripts: boolean;
  /** Absent where agents cost nothing. */
  readonly costs?: CostMeter | undefined;
  /** Warnings that the log of the run has. */
  readonly warned: Set<string>;
  /** Undefined where none can be made. */
  readonly worktrees?: Worktrees | undefined;
}

/** Who wants to know of agents under way; one for all of them. */
export interface AgentWatcher {
  usage(outputTokens: number): void;
  /** The agent has a working copy of its own and is about to begin in it. */
  movedIn(run: AgentRun, worktree: WorktreePlace): void;
}

export interface AgentTimes {
  readonly timeoutMs: number | undefined;
  readonly stallMs: number | undefined;
}

/** How an agent ended, before it was written down. */
export type AgentEnd =
  | { readonly state: 'done'; readonly outcome: AgentOutcome }
  | { readonly state: 'error'; readonly error: WorkflowError }
  | { readonly state: 'cancelled' };

/** Silence that counts as a stall, unless the call says otherwise. */
const DEFAULT_STALL_MS = 180_000;
/** Attempts that may be given up as stalled and tried again. */
const MOST_STALL_RETRIES = 2;
/** An agent that is this quick has ended before anybody could see that it began; its first sign of life is no event. */
const QUICK_MS = 20;

/**
 * One agent from its slot to its end: tells the backend to start, counts what it uses, waits out its retries, watches its
 * time and its silence, and aborts it when the run is over.
 */
export class AgentRun implements AgentReporter, Watched {
  readonly request: AgentRequest;
  readonly stallMs: number;
  inputTokens = 0;
  outputTokens = 0;
  cacheReadTokens = 0;
  cacheWriteTokens = 0;
  /** Undefined where agents cost nothing. */
  readonly spend: AgentSpend | undefined;
  toolUses = 0;
  /** Tries over the transport, from 1. */
  attempt = 1;
  startedAtMs = 0;
  lastAliveAtMs = Number.POSITIVE_INFINITY;
  /** Waits to try again, with no request under way. */
  waiting = false;
  /** Its working copy, when that was kept for the work in it. */
  keptWorktree: WorktreePlace | undefined;
  readonly transcript: ((row: TranscriptRow) => void) | undefined;
  readonly #context: AgentContext;
  readonly #timeoutMs: number | undefined;
  readonly #watcher: AgentWatcher;
  /** Ends the attempt under way. A stalled attempt gets a new one; nothing else does. */
  #abort = new AbortController();
  /** Why the agent itself must end. */
  #over: WorkflowError | undefined;
  #retries = 0;
  #stalls = 0;
  #stalled = false;
  #release: ReleaseSlot = () => {};
  #onEnd: (end: AgentEnd) => void = () => {};
  #timer: TimerHandle | undefined;
  #active = false;
  #sentAtMs = 0;
  #worktree: Worktree | undefined;
  #openTools: Map<string, { readonly name: string; readonly atMs: number }> | undefined;

  constructor(request: AgentRequest, times: AgentTimes, context: AgentContext, watcher: AgentWatcher) {
    this.request = request;
    this.stallMs = context.backend.quiet === true ? Number.POSITIVE_INFINITY : (times.stallMs ?? DEFAULT_STALL_MS);
    this.#timeoutMs = times.timeoutMs;
    this.#context = context;
    this.#watcher = watcher;
    this.spend = context.costs?.open();
    this.transcript = context.transcripts
      ? (row) => context.directory.agentFiles.appendTranscript(request.agentId, row)
      : undefined;
  }

  /** Runs the agent in a slot it was given, and gives the slot back. Calls `onEnd` once. */
  run(release: ReleaseSlot, onEnd: (end: AgentEnd) => void): void {
    const { clock, stallWatch } = this.#context;
    this.#release = release;
    this.#onEnd = onEnd;
    this.startedAtMs = clock.now();
    this.#timer = this.#watchTime();
    stallWatch.add(this);
    this.#begin();
  }

  /** Callbacks, not `await`: this is on the way of every agent, and each frame of an async function costs. */
  #begin(): void {
    const { backend, clock } = this.#context;
    if (this.request.options.isolation !== undefined && this.#worktree === undefined && !backend.simulated) {
      this.#moveIn();
      return;
    }
    this.#sentAtMs = this.lastAliveAtMs = clock.now();
    backend.run(this.#requestOfAttempt(), this.#abort.signal, this).then(
      (outcome) => {
        this.#settleUsage(outcome);
        this.#end({ state: 'done', outcome });
      },
      (error: unknown) => {
        if (!this.#stalled || this.#over !== undefined) this.#end(this.#endOf(error));
        else if (this.#stalls > MOST_STALL_RETRIES) this.#end({ state: 'error', error: this.#stalledError() });
        else this.#beginAgain();
      },
    );
  }

  #requestOfAttempt(): AgentRequest {
    const request = this.attempt === 1 ? this.request : { ...this.request, attempt: this.attempt };
    if (this.#worktree === undefined) return request;
    const { cwd, path, branch, hasEarlierWork } = this.#worktree;
    return { ...request, cwd, worktree: { path, branch, ...(hasEarlierWork ? { hasEarlierWork } : {}) } };
  }

  /** Later attempts find it as the first one left it. */
  #moveIn(): void {
    this.lastAliveAtMs = Number.POSITIVE_INFINITY; // a large checkout takes its time
    openWorktree(this.request, this.#context.worktrees, (text) => this.warn(text)).then(
      (worktree) => {
        this.#worktree = worktree;
        if (this.#over !== undefined) {
          this.#end(this.#endOf(this.#over));
          return;
        }
        this.#watcher.movedIn(this, worktree);
        this.#begin();
      },
      (error: unknown) => this.#end(this.#endOf(error)),
    );
  }

  #end(end: AgentEnd): void {
    this.#timer?.cancel();
    this.#context.stallWatch.remove(this);
    if (this.#worktree === undefined) this.#leave(end);
    else void this.#moveOut(this.#worktree).then(() => this.#leave(end));
  }

  #leave(end: AgentEnd): void {
    if (this.spend !== undefined) this.#endSpend(this.spend);
    this.#onEnd(end);
    this.#release();
  }

  async #moveOut(worktree: Worktree): Promise<void> {
    const { path, branch } = worktree;
    const end = await worktree.close();
    if (!end.kept) return;
    this.keptWorktree = { path, branch };
    if (end.problem !== undefined) this.warn(`The worktree ${path} could not be removed: ${end.problem}`);
  }

  #endSpend(spend: AgentSpend): void {
    const { costs, redactor } = this.#context;
    costs?.ended(spend, preview(redactor.text(this.request.label)));
  }

  /** Ends the agent: at once when it waits, through its signal when it works. */
  abort(error: WorkflowError): void {
    this.#over ??= error;
    this.#abort.abort(this.#over);
  }

  onStall(): void {
    this.#stalls += 1;
    this.#stalled = true;
    this.lastAliveAtMs = Number.POSITIVE_INFINITY;
    this.#abort.abort(this.#stalledError());
  }

  alive(): void {
    const now = this.#context.clock.now();
    this.lastAliveAtMs = this.#openTools === undefined ? now : Number.POSITIVE_INFINITY;
    if (this.#active || now - this.startedAtMs < QUICK_MS) return;
    this.#active = true;
    this.#context.events.append('agent.active', { key: this.request.key });
  }

  usage(delta: AgentUsage, model?: string): void {
    const outputTokens = tokenCount(delta.outputTokens);
    this.inputTokens += tokenCount(delta.inputTokens);
    this.outputTokens += outputTokens;
    this.cacheReadTokens += tokenCount(delta.cacheReadTokens);
    this.cacheWriteTokens += tokenCount(delta.cacheWriteTokens);
    if (this.spend !== undefined) {
      this.#context.costs?.used(this.spend, delta, model ?? this.request.options.model);
    }
    this.#watcher.usage(outputTokens);
  }

  toolStarted(toolUseId: string, name: string): void {
    this.toolUses += 1;
    this.#openTools ??= new Map();
    this.#openTools.set(toolUseId, { name, atMs: this.#context.clock.now() });
    this.lastAliveAtMs = Number.POSITIVE_INFINITY; // a long tool call is no stall
    this.#toolEvent(toolUseId, name, 'started');
  }

  toolFinished(toolUseId: string, ok: boolean, summary?: string, exitCode?: number): void {
    const start = this.#openTools?.get(toolUseId);
    this.#openTools?.delete(toolUseId);
    if (this.#openTools?.size === 0) this.#openTools = undefined;
    const now = this.#context.clock.now();
    this.lastAliveAtMs = this.#openTools === undefined ? now : Number.POSITIVE_INFINITY;
    this.#toolEvent(toolUseId, start?.name ?? 'unknown', ok ? 'completed' : 'failed', {
      ...(start === undefined ? {} : { durationMs: now - start.atMs }),
      ...(summary === undefined ? {} : { summary: preview(this.#context.redactor.text(summary)) }),
      ...(exitCode === undefined ? {} : { exitCode }),
    });
  }

  async keepFile(name: string, text: string): Promise<string> {
    const { agentFiles } = this.#context.directory;
    if (agentFiles.keep === undefined) throw new WorkflowError('STATE_UNWRITABLE', 'This store keeps no such files.');
    return agentFiles.keep(this.request.agentId, name, text);
  }

  async transcriptSaved(): Promise<void> {
    if (this.#context.transcripts) await this.#context.directory.agentFiles.saved(this.request.agentId);
  }

  get redactor(): Redactor {
    return this.#context.redactor;
  }

  warn(text: string): void {
    if (this.#context.warned.has(text)) return;
    this.#context.warned.add(text);
    const { events, redactor } = this.#context;
    events.append('log', { level: 'warn', text: redactor.text(text) });
  }

  async retry(failure: TransientFailure): Promise<void> {
    const { slots, clock, random, maxRetries } = this.#context;
    this.#throwIfAborted();
    if ((failure.retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) throw quotaError(failure);
    if (this.#retries >= maxRetries) throw exhaustedError(failure, maxRetries);
    this.#retries += 1;
    const delayMs = retryDelayMs(failure, this.#retries, random());
    this.attempt += 1;
    if (failure.status === 429) slots.shrink(this.#sentAtMs, clock.now());
    this.#retryEvent('AGENT_API', failure.message, delayMs, failure.status);
    this.lastAliveAtMs = Number.POSITIVE_INFINITY; // so is a wait
    this.#release();
    this.waiting = true;
    await this.#wait(delayMs);
    this.#release = await slots.take();
    this.waiting = false;
    this.#throwIfAborted();
    this.#sentAtMs = this.lastAliveAtMs = clock.now();
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

  /** The next attempt starts from nothing, under the same key. */
  #beginAgain(): void {
    this.attempt += 1;
    this.#stalled = false;
    this.#openTools = undefined;
    this.#abort = new AbortController();
    this.#retryEvent('AGENT_STALLED', this.#stalledError().message, 0);
    this.#begin();
  }

  #watchTime(): TimerHandle | undefined {
    const timeoutMs = this.#timeoutMs;
    if (timeoutMs === undefined) return undefined;
    const { label } = this.request;
    return this.#context.clock.after(timeoutMs, () =>
      this.abort(
        new WorkflowError(
          'AGENT_TIMED_OUT',
          `The agent "${label}" did not answer within ${timeoutMs} ms. Raise timeoutMs, or ask for less in one call.`,
        ),
      ),
    );
  }

  #stalledError(): WorkflowError {
    return new WorkflowError(
      'AGENT_STALLED',
      `The agent "${this.request.label}" gave no sign of life for ${this.stallMs} ms, ${this.#stalls} times. Raise stallMs if its model is that slow.`,
    );
  }

  /** Trusts the outcome where the backend reported nothing, or less, while it ran. */
  #settleUsage({ usage, toolUses }: AgentOutcome): void {
    const inputTokens = Math.max(0, tokenCount(usage.inputTokens) - this.inputTokens);
    const outputTokens = Math.max(0, tokenCount(usage.outputTokens) - this.outputTokens);
    if (inputTokens > 0 || outputTokens > 0) this.usage({ inputTokens, outputTokens });
    this.toolUses = Math.max(this.toolUses, toolUses);
  }

  #endOf(error: unknown): AgentEnd {
    const cause = this.#over ?? error;
    if (!isWorkflowError(cause)) {
      const message = error instanceof Error ? error.message : String(error);
      return { state: 'error', error: new WorkflowError('AGENT_API', message, { cause: error }) };
    }
    return cause.kind === 'cancelled' ? { state: 'cancelled' } : { state: 'error', error: cause };
  }

  #throwIfAborted(): void {
    if (!this.#abort.signal.aborted) return;
    this.#release();
    throw this.#abort.signal.reason;
  }

  #retryEvent(code: string, message: string, delayMs: number, status?: number): void {
    const { events, redactor, slots } = this.#context;
    events.append('agent.retrying', {
      key: this.request.key,
      attempt: this.attempt,
      delayMs,
      reason: { code, message: preview(redactor.text(message)), ...(status === undefined ? {} : { status }) },
      concurrency: slots.current,
    });
  }

  #toolEvent(
    toolUseId: string,
    name: string,
    status: 'started' | 'completed' | 'failed',
    more: { durationMs?: number; summary?: string; exitCode?: number } = {},
  ): void {
    const { key } = this.request;
    this.#context.events.append('agent.tool', { key, toolUseId, name, status, ...more });
  }
}
