import { agentFailureText } from '../../protocol/agent-failure-text.ts';
import { toErrorRecord, WorkflowError } from '../../protocol/workflow-error.ts';
import type { Phases } from '../phases.ts';
import type { AgentOutcome, AgentRequest } from '../ports.ts';
import type { CallPlace, Replay, StoredResult } from '../replay/replay-index.ts';
import { RestQueue } from '../replay/rest-queue.ts';
import type { Reuse, ReusedResult } from '../replay/reuse.ts';
import type { RunLimits } from '../run-options.ts';
import { asWorkflowError } from '../run-outcome.ts';
import type { GuestAgentCall, SandboxAnswer } from '../sandbox/sandbox.ts';
import { type AgentCall, AgentLedger } from './agent-ledger.ts';
import { agentLimit, budgetLimit } from './agent-limit.ts';
import { type AgentContext, type AgentEnd, AgentRun, type AgentWatcher } from './agent-run.ts';
import { type CallOptions, CallOptionsError, readCallOptions } from './call-options.ts';
import { askPolicy, type CallPolicy } from './call-policy.ts';
import { defaultLabel } from './default-label.ts';
import { errorAnswer } from './error-answer.ts';
import { BREAKER_CODES, NULL_CODES } from './failure-codes.ts';
import type { NamedSchemas } from './named-schemas.ts';
import { createRequests } from './request-of.ts';
import type { ReleaseSlot, Slots } from './slots.ts';

export interface AgentCallsOptions extends AgentContext {
  readonly limits: RunLimits;
  readonly replay: Replay;
  readonly phases: Phases;
  readonly schemas: NamedSchemas;
  /** Bounds of classes of agents below the cap, by name. */
  readonly lanes?: ReadonlyMap<string, Slots>;
  readonly policy?: CallPolicy;
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
  /** Finds answers outside the journal; undefined when none are wanted. */
  readonly reuse?: Reuse;
  /** Resolves when the script has done all that the answers given so far let it do. Without it no call waits to be decided. */
  readonly settled?: () => Promise<void>;
  /** A call whose content no earlier launch met. */
  onNewContent?(label: string): void;
}

/** A call that may have to leave the one stored result of its content to another; see `ReplayIndex.patience`. */
interface UndecidedCall {
  readonly guestCall: GuestAgentCall;
  readonly options: CallOptions;
  readonly place: CallPlace;
}

/** Takes the agent calls of a run in the order the script made them, and answers each from the journal or from an agent. */
export class AgentCalls {
  /** Output tokens of live agents so far. */
  spent = 0;
  /** Agents that ended in an error. */
  failedCount = 0;
  /** Agents that the end of the run cut off. */
  cancelledCount = 0;
  readonly #options: AgentCallsOptions;
  readonly #ledger: AgentLedger;
  readonly #requestOf: (call: AgentCall) => AgentRequest;
  readonly #watcher: AgentWatcher;
  readonly #begin = (release: ReleaseSlot, call: AgentCall): void => this.#start(call, release);
  /** Calls that have not ended; those that have a slot with their agent. */
  readonly #open = new Map<AgentCall, AgentRun | undefined>();
  /** Calls for which {@link Reuse} is asked. */
  readonly #asking = new Set<AgentCall>();
  /** Lets calls go on in their order after they were asked for. */
  #asked: Promise<void> = Promise.resolve();
  readonly #warned = new Set<string>();
  readonly #undecided: RestQueue<UndecidedCall> | undefined;
  /** Calls made, and those of them that have their identity. */
  #count = 0;
  #taken = 0;
  /** Settles when the backend is ready for its first agent. */
  #warmUp: Promise<void> | undefined;
  #running = 0;
  /** Answers that the script gets once they are on the disk. */
  #filing = 0;
  #broken: WorkflowError | undefined;
  #closing = false;
  #onEmpty: (() => void) | undefined;

  constructor(options: AgentCallsOptions) {
    const { settled } = options;
    this.#options = options;
    if (options.costs !== undefined) options.costs.onWarning = (text) => options.log('warn', text);
    this.#undecided =
      settled &&
      new RestQueue({
        settled,
        count: () => this.#count,
        waitsOn: (call) => this.#waitsOn(call),
        take: (call) => this.#take(call),
      });
    this.#ledger = new AgentLedger(options, options.limits.maxStructuredOutputRetries, options.onFatal);
    this.#requestOf = createRequests(options);
    this.#watcher = {
      usage: (outputTokens) => {
        this.spent += outputTokens;
      },
      movedIn: (run, worktree) => this.#ledger.movedIn(run, worktree),
    };
  }

  /** The error that every further agent would meet; undefined while there is none. */
  get brokenBy(): WorkflowError | undefined {
    return this.#broken;
  }

  /** Agents that have not ended. */
  get openCount(): number {
    return this.#open.size + this.#asking.size;
  }

  /** Lets the backend load what it needs while the script starts. */
  warmUp(): void {
    this.#warmUp = this.#options.backend.warmUp?.().finally(() => {
      this.#warmUp = undefined;
    });
  }

  handle(guestCall: GuestAgentCall): void {
    if (this.#closing || this.#broken !== undefined) return;
    let options: CallOptions;
    try {
      options = readCallOptions(guestCall.optsJson, this.#options.schemas);
    } catch (error) {
      this.#refuse(guestCall.id, error);
      return;
    }
    for (const warning of options.warnings) this.#warnOnce(warning);
    const limit = agentLimit(this.#options.limits, this.#count, this.spent, this.#options.costs);
    if (limit !== undefined) {
      this.#refuseByLimit(guestCall.id, limit);
      return;
    }
    this.#count += 1;
    const { replay } = this.#options;
    const place = replay.place(guestCall.prompt, options.canonical, guestCall.scope);
    const call = { guestCall, options, place };
    if (this.#undecided !== undefined && replay.patience(place) !== 'none') this.#undecided.add(call);
    else this.#take(call);
  }

  #take(undecided: UndecidedCall): void {
    if (this.#closing || this.#broken !== undefined) return;
    const call = this.#identify(undecided);
    const { stored } = call.identity;
    if (stored === undefined || !this.#stillValid(call, stored)) {
      if (this.#options.reuse === undefined) this.#queue(call);
      else this.#ask(call, this.#options.reuse);
      return;
    }
    this.#ledger.cached(call, stored.resultJson);
    this.#answerValue(call, stored.resultJson);
    this.#undecided?.lookAgain();
  }

  #waitsOn({ place }: UndecidedCall): boolean {
    if (this.#closing || this.#broken !== undefined) return false;
    return this.#filing > 0 || (this.openCount > 0 && this.#options.replay.patience(place) === 'idle');
  }

  /** Aborts every open agent and resolves when all have ended and their answers are kept. Later calls are dropped. */
  async close(reason: WorkflowError): Promise<void> {
    this.#closing = true;
    this.#asking.clear();
    for (const [call, run] of [...this.#open]) {
      if (run !== undefined) run.abort(reason);
      else {
        this.cancelledCount += 1;
        this.#ledger.cancelledInQueue(call);
        this.#open.delete(call);
      }
    }
    const { promise: empty, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    if (this.#open.size > 0) await empty;
    await this.#ledger.filed();
  }

  #identify({ guestCall, options, place }: UndecidedCall): AgentCall {
    const { replay, phases, onNewContent } = this.#options;
    const identity = replay.decide(place);
    const phase = options.phase ?? guestCall.phase;
    const label = options.label ?? defaultLabel(guestCall.prompt);
    this.#taken += 1;
    if (onNewContent !== undefined && !replay.knows(identity.content)) onNewContent(label);
    return {
      id: guestCall.id,
      index: this.#taken,
      identity,
      options,
      prompt: guestCall.prompt,
      scope: guestCall.scope,
      label,
      phase,
      phaseIndex: phase === null ? undefined : phases.enter(phase),
      workflow: guestCall.workflow,
    };
  }

  /** A cached value is checked against the schema again; an invalid one runs live. */
  #stillValid(call: AgentCall, stored: StoredResult): boolean {
    const { output } = call.options;
    if (output === undefined || output.accepts(stored.resultJson)) return true;
    this.#options.log('warn', `The stored answer of "${call.label}" no longer fits its schema; it runs again.`);
    return false;
  }

  /** Looks for an answer outside the journal before the call waits for a slot. */
  #ask(call: AgentCall, reuse: Reuse): void {
    this.#asking.add(call);
    const found = reuse.find(call);
    this.#asked = this.#asked.then(() => found).then((result) => this.#goOn(call, result));
  }

  #goOn(call: AgentCall, result: ReusedResult | undefined): void {
    if (!this.#asking.delete(call) || this.#broken !== undefined) return;
    if (result === undefined) this.#queue(call);
    else {
      this.#filing += 1;
      this.#ledger.reused(call, result, () => this.#answerFiled(call, result.valueJson));
    }
  }

  #queue(call: AgentCall): void {
    this.#open.set(call, undefined);
    this.#ledger.queued(call);
    const { policy, backend } = this.#options;
    try {
      backend.admit?.(call.options.agent);
    } catch (error) {
      this.#refuseBeforeStart(call, asWorkflowError(error));
      return;
    }
    if (policy === undefined) this.#waitForSlot(call);
    else void this.#askPolicy(call, policy);
  }

  /** In a lane first, if the call names one that is bounded: what waits there holds no slot. */
  #waitForSlot(call: AgentCall): void {
    const { slots, lanes } = this.#options;
    const lane = call.options.lane === undefined ? undefined : lanes?.get(call.options.lane);
    if (lane === undefined) slots.run(this.#begin, call);
    else lane.run((leaveLane) => slots.run((release) => this.#start(call, release, leaveLane)));
  }

  async #askPolicy(call: AgentCall, policy: CallPolicy): Promise<void> {
    const { prompt, label, phase, scope } = call;
    const about = { key: call.identity.key, prompt, label, phase, scope, options: call.options.agent };
    const decision = await askPolicy(policy, { ...about, spent: this.spent, count: call.index });
    if (!this.#open.has(call)) return;
    if (decision.action === 'allow') {
      const { change } = decision;
      if (change !== undefined) call.options = { ...call.options, agent: { ...call.options.agent, ...change } };
      this.#waitForSlot(call);
      return;
    }
    const message = `The agent "${label}" was not allowed to start: ${decision.reason}`;
    this.#refuseBeforeStart(call, new WorkflowError('AGENT_DENIED', message));
  }

  /** It counts as failed, but nothing was spent and no row is left. */
  #refuseBeforeStart(call: AgentCall, error: WorkflowError): void {
    this.failedCount += 1;
    this.#ledger.refused(call, toErrorRecord(error));
    this.#options.log('error', agentFailureText(call.label, error));
    this.#answer(call.id, errorAnswer(error, false));
    this.#left(call);
  }

  #start(call: AgentCall, release: ReleaseSlot, leaveLane?: ReleaseSlot): void {
    if (this.#warmUp !== undefined) {
      void this.#warmUp.then(() => this.#start(call, release, leaveLane));
      return;
    }
    if (!this.#open.has(call) || this.#broken !== undefined) {
      release();
      leaveLane?.();
      return;
    }
    const spent = budgetLimit(this.#options.limits, this.spent, this.#options.costs);
    if (spent !== undefined) {
      release();
      leaveLane?.();
      this.#ledger.cancelledInQueue(call);
      this.#refuseByLimit(call.id, spent);
      this.#left(call);
      return;
    }
    const run = new AgentRun(this.#requestOf(call), call.options, this.#options, this.#watcher);
    this.#open.set(call, run);
    this.#running += 1;
    this.#ledger.started(call, run);
    run.run(release, (end) => {
      this.#running -= 1;
      this.#settle(run, call, end);
      this.#left(call);
      leaveLane?.();
    });
  }

  #settle(run: AgentRun, call: AgentCall, end: AgentEnd): void {
    switch (end.state) {
      case 'done':
        this.#succeeded(run, call, end.outcome);
        return;
      case 'cancelled':
        this.cancelledCount += 1;
        this.#ledger.cancelled(call, run);
        return;
      case 'error':
        this.#failed(run, call, end.error);
        return;
    }
  }

  #succeeded(run: AgentRun, call: AgentCall, outcome: AgentOutcome): void {
    this.#options.slots.succeeded();
    this.#filing += 1;
    this.#ledger.answered(call, run, outcome, () => {
      this.#answerFiled(call, outcome.valueJson);
      this.#options.reuse?.keep(call, outcome);
    });
  }

  #failed(run: AgentRun, call: AgentCall, error: WorkflowError): void {
    const { log, redactor } = this.#options;
    const record = toErrorRecord(error);
    const message = redactor.text(record.message);
    const skipped = error.code === 'AGENT_SKIPPED';
    if (!skipped) this.failedCount += 1;
    this.#ledger.failed(call, run, { ...record, message });
    log(skipped ? 'warn' : 'error', agentFailureText(call.label, { code: record.code, message }));
    if (BREAKER_CODES.has(error.code)) this.#break(error);
    else if (NULL_CODES.has(error.code)) this.#answer(call.id, { ok: true, valueJson: 'null' });
    else this.#answer(call.id, errorAnswer(error, false));
  }

  /** No new request leaves from here on; agents whose request is under way may finish. */
  #break(error: WorkflowError): void {
    if (this.#broken !== undefined) return;
    this.#broken = error;
    for (const run of this.#open.values())
      if (run?.waiting) run.abort(new WorkflowError('RUN_CANCELLED', error.message));
  }

  /** When the run is broken or closing, the last agent to leave tells. */
  #left(call: AgentCall): void {
    this.#open.delete(call);
    if (this.#closing) {
      if (this.#open.size === 0) this.#onEmpty?.();
    } else if (this.#broken !== undefined && this.#running === 0) {
      this.#options.onBroken(this.#broken);
    }
    this.#undecided?.lookAgain();
  }

  #refuse(id: number, error: unknown): void {
    if (!(error instanceof CallOptionsError)) {
      this.#options.onFatal(error);
      return;
    }
    this.#answer(id, { ok: false, error: { name: 'TypeError', code: 'AGENT_OPTIONS', message: error.message } });
  }

  #refuseByLimit(id: number, limit: WorkflowError): void {
    this.#options.onLimit(limit);
    this.#answer(id, errorAnswer(limit, true));
  }

  #answerFiled(call: AgentCall, valueJson: string): void {
    this.#filing -= 1;
    this.#answerValue(call, valueJson);
    this.#undecided?.lookAgain();
  }

  #answerValue(call: AgentCall, valueJson: string): void {
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
