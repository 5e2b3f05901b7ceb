import { CORE_EVENT_VERSION } from '../protocol/core-event-version.ts';
import { PREVIEW_CHARACTERS, previewWithNote } from '../protocol/preview.ts';
import { toErrorRecord, WorkflowError } from '../protocol/workflow-error.ts';
import { AgentCalls, type AgentCallsOptions } from './calls/agent-calls.ts';
import { errorAnswer } from './calls/error-answer.ts';
import type { NamedSchemas } from './calls/named-schemas.ts';
import { Slots } from './calls/slots.ts';
import { StallWatch } from './calls/stall-watch.ts';
import { costFacts, spentByPhase, spentCosts } from './costs/cost-facts.ts';
import type { CostMeter } from './costs/cost-meter.ts';
import { CountedEvents } from './counted-events.ts';
import { NestedWorkflows } from './nested-workflows.ts';
import { Phases } from './phases.ts';
import type { Clock, Redactor, RunDirectory, TimerHandle } from './ports.ts';
import { scriptDirectoryOf } from './prepare-run.ts';
import type { Replay } from './replay/replay-index.ts';
import { Reuse } from './replay/reuse.ts';
import type { FanOutRequest, RunHandle, RunLimits, RunResult, WorkflowOptions } from './run-options.ts';
import { failedForAgents, missingArgs, outcomeOf, type RunOutcome, withResumeCommand } from './run-outcome.ts';
import type { Sandbox, SandboxEnd, SandboxHandlers } from './sandbox/sandbox.ts';
import type { ParsedScript } from './script/parse-script.ts';
import { cancelled, timedOut } from './stop-reasons.ts';
import { systemClock } from './system-clock.ts';
import { WF_VERSION } from './version.ts';

/** A run that is ready to go: its directory is open, its script parsed, nothing paid yet. */
export interface PreparedRun {
  readonly directory: RunDirectory;
  readonly script: ParsedScript;
  readonly argsJson: string | undefined;
  readonly limits: RunLimits;
  readonly concurrency: { readonly value: number; readonly source: string };
  readonly replay: Replay;
  readonly costs: CostMeter | undefined;
  readonly redactor: Redactor;
  readonly sandbox: Sandbox;
  readonly schemas: NamedSchemas;
  readonly cwd: string;
  readonly onNewContent?: (label: string) => void;
  readonly options: WorkflowOptions;
}

/** How long aborted agents may take to end. */
const GRACE_MS = 2_000;
/** How long readers of the events may take after the last one (E-3). */
const SINK_GRACE_MS = 5_000;

/** Starts a prepared run. Its first events are in the log when this returns. */
export function launchRun(prepared: PreparedRun): RunHandle {
  return new Run(prepared).launch();
}

class Run {
  readonly #prepared: PreparedRun;
  readonly #events: CountedEvents;
  readonly #calls: AgentCalls;
  readonly #reuse: Reuse | undefined;
  readonly #phases: Phases;
  readonly #stallWatch: StallWatch;
  readonly #nested: NestedWorkflows;
  readonly #clock: Clock;
  /** Codes of the limits that refused a call or ended the run. */
  /** Limits that were met, each by the first error that said so. */
  readonly #limits = new Map<string, WorkflowError>();
  #timeLimit: TimerHandle | undefined;
  /** Why we ended the run ourselves; the first reason counts. */
  #stopped: WorkflowError | undefined;
  #fatal: unknown;
  readonly #onAbort = (): void => this.#stop(cancelled());
  /** Nested workflows that are being looked for. */
  #searching = 0;

  constructor(prepared: PreparedRun) {
    const { options, directory, script } = prepared;
    const clock = options.clock ?? systemClock;
    this.#clock = clock;
    this.#prepared = prepared;
    this.#events = new CountedEvents(directory.events, clock);
    this.#phases = new Phases(script.meta.phases ?? [], this.#events);
    this.#nested = new NestedWorkflows(options.findWorkflow, script.fileName, scriptDirectoryOf(directory));
    this.#stallWatch = new StallWatch(clock);
    this.#reuse = this.#openReuse();
    this.#calls = new AgentCalls({
      backend: options.backend,
      directory,
      events: this.#events,
      slots: new Slots(prepared.concurrency.value),
      stallWatch: this.#stallWatch,
      clock,
      random: options.random ?? Math.random,
      redactor: prepared.redactor,
      maxRetries: prepared.limits.maxRetries,
      transcripts: options.transcripts ?? true,
      warned: new Set(),
      worktrees: options.worktrees,
      limits: prepared.limits,
      costs: prepared.costs,
      replay: prepared.replay,
      phases: this.#phases,
      schemas: prepared.schemas,
      lanes: new Map(Object.entries(options.lanes ?? {}).map(([name, size]) => [name, new Slots(size)])),
      ...(options.policy === undefined ? {} : { policy: options.policy }),
      cwd: prepared.cwd,
      answer: (id, answer, spent) => prepared.sandbox.answer(id, answer, spent),
      log: (level, text) => this.#log(level, text),
      onLimit: (error) => this.#limit(error),
      onBroken: (error) => this.#stop(error),
      onFatal: (error) => this.#die(error),
      ...(this.#reuse === undefined ? {} : { reuse: this.#reuse }),
      ...this.#whenSettled(),
      ...(prepared.onNewContent === undefined ? {} : { onNewContent: prepared.onNewContent }),
    });
  }

  /** Nothing where the sandbox cannot tell. */
  #whenSettled(): Pick<AgentCallsOptions, 'settled'> {
    const sandbox: { settled?(): Promise<void> } = this.#prepared.sandbox;
    if (sandbox.settled === undefined) return {};
    return {
      settled: async () => {
        do await sandbox.settled?.();
        while (this.#searching > 0);
      },
    };
  }

  launch(): RunHandle {
    const { directory, sandbox, script, argsJson, limits, options } = this.#prepared;
    for (const sink of options.sinks ?? []) directory.events.addSink(sink);
    this.#announce();
    for (const warning of script.warnings) this.#log('warn', warning);
    sandbox.run(
      { fileName: script.fileName, code: script.code, metaJson: JSON.stringify(script.meta), argsJson },
      {
        memoryLimitMb: limits.memoryLimitMb,
        cpuLimitMs: limits.cpuLimitMs,
        maxItems: limits.maxItems,
        maxDepth: limits.maxDepth,
        ...(options.confirmAbove === undefined ? {} : { confirmAbove: options.confirmAbove }),
        budgetTotal: limits.budget,
      },
      this.#handlers(),
    );
    this.#watch();
    this.#calls.warmUp();
    return {
      runId: directory.runId,
      directory: directory.path,
      done: sandbox.end.then((end) => this.#finish(end)),
      stop: (reason) => this.#stop(cancelled(reason)),
    };
  }

  #handlers(): SandboxHandlers {
    return {
      agent: (call) => this.#calls.handle(call),
      workflow: (call) => {
        this.#searching += 1;
        void this.#nested.find(call).then((answer) => {
          this.#searching -= 1;
          this.#prepared.sandbox.answerWorkflow(call.id, answer);
        });
      },
      phase: (title, kind) => {
        this.#phases.enter(title, kind);
      },
      log: (level, text) => this.#log(level, text),
      fanOut: (request) => void this.#confirm(request),
      limit: (code, message) => this.#limit(new WorkflowError(code, message)),
      partFailed: ({ helper, index, stage, scope, error }) => {
        const message = this.#prepared.redactor.text(`${error.name}: ${error.message}`);
        this.#events.append('part.failed', {
          helper,
          index,
          ...(stage === undefined ? {} : { stage }),
          scope,
          error: {
            code: error.code ?? 'SCRIPT_THREW',
            message,
            ...(error.line === undefined ? {} : { line: error.line }),
            ...(error.column === undefined ? {} : { column: error.column }),
          },
        });
      },
    };
  }

  #openReuse(): Reuse | undefined {
    const { options, redactor, cwd } = this.#prepared;
    const { sharedResults, importedCalls, backend } = options;
    if (sharedResults === undefined && importedCalls === undefined) return undefined;
    const log = (level: 'info' | 'warn', text: string): void => this.#log(level, text);
    return new Reuse({ sharedResults, importedCalls, backend, redactor, cwd, log });
  }

  /** Asks before a large fan-out costs anything; nobody to ask means no. */
  async #confirm({ id, helper, count }: { id: number; helper: 'parallel' | 'pipeline'; count: number }): Promise<void> {
    const { sandbox, options } = this.#prepared;
    const { agents_done: done } = this.#events.summary.census();
    const used = this.#events.summary.usage().total_tokens;
    const tokens = done === 0 ? undefined : Math.round((used / done) * count);
    if (await this.#isAllowed({ helper, agents: count, tokens })) {
      sandbox.answer(id, { ok: true, valueJson: 'null' }, this.#calls.spent);
      return;
    }
    const message = `${helper}() would start ${count} agents, and more than ${options.confirmAbove} at once need a yes (--confirm-above). Nobody gave it, so none was started.`;
    const error = new WorkflowError('LIMIT_AGENT_COUNT', message);
    this.#limit(error);
    sandbox.answer(id, errorAnswer(error, true), this.#calls.spent);
  }

  /** A question that fails is a no, and is told. */
  async #isAllowed(request: FanOutRequest): Promise<boolean> {
    try {
      return (await this.#prepared.options.confirmFanOut?.(request)) === true;
    } catch (error) {
      this.#log('error', `confirmFanOut failed: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  }

  #announce(): void {
    const { directory, script, limits, concurrency, options } = this.#prepared;
    const { record } = directory;
    const { backend } = options;
    this.#events.append('run.started', {
      version: CORE_EVENT_VERSION,
      runId: directory.runId,
      launch: record.launch,
      workflow: { name: script.meta.name, description: script.meta.description, phases: script.meta.phases ?? [] },
      ...(record.scriptPath === undefined ? {} : { scriptPath: record.scriptPath }),
      scriptSha256: record.scriptSha256,
      argsSha256: record.argsSha256,
      backend: backend.name,
      simulated: backend.simulated,
      ...(backend.model === undefined ? {} : { model: backend.model }),
      concurrency,
      limits,
      ...costFacts(this.#prepared.costs),
      ...(options.toolUseId === undefined ? {} : { toolUseId: options.toolUseId }),
      wfVersion: WF_VERSION,
      nodeVersion: process.versions.node,
    });
  }

  #watch(): void {
    const { limits, options, directory } = this.#prepared;
    const { leaseLost } = directory;
    leaseLost?.addEventListener('abort', () => this.#die(leaseLost.reason), { once: true });
    const { timeoutMs } = limits;
    if (timeoutMs !== null) this.#timeLimit = this.#clock.after(timeoutMs, () => this.#stop(timedOut(timeoutMs)));
    const { signal } = options;
    if (signal?.aborted === true) this.#stop(cancelled());
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  #log(level: 'debug' | 'info' | 'warn' | 'error', text: string): void {
    this.#events.append('log', { level, text: this.#prepared.redactor.text(text) });
  }

  /** Told of once, however many calls meet it. */
  #limit(error: WorkflowError): void {
    if (this.#limits.has(error.code)) return;
    this.#limits.set(error.code, error);
    this.#events.append('limit', { code: error.code, message: error.message });
  }

  /** Ends the run for `reason`. The script's process dies at once; the rest follows from its end. */
  #stop(reason: WorkflowError): void {
    this.#stopped ??= reason;
    this.#prepared.sandbox.kill();
  }

  #die(error: unknown): void {
    this.#fatal ??= error;
    this.#prepared.sandbox.kill();
  }

  async #finish(end: SandboxEnd): Promise<RunResult> {
    this.#timeLimit?.cancel();
    const { directory, options } = this.#prepared;
    options.signal?.removeEventListener('abort', this.#onAbort); // a host's signal may outlive many runs
    try {
      await this.#endAgents(end);
      this.#stallWatch.close();
      if (this.#fatal !== undefined) throw this.#fatal;
      await directory.journal.durable();
      return await this.#conclude(end);
    } finally {
      await directory.close();
    }
  }

  async #endAgents(end: SandboxEnd): Promise<void> {
    await this.#bounded(this.#calls.close(this.#stopped ?? cancelled('the script has ended')), GRACE_MS);
    const left = this.#calls.cancelledCount + this.#calls.openCount;
    if (left > 0 && end.type === 'returned') {
      const agents = left === 1 ? '1 agent was' : `${left} agents were`;
      this.#log(
        'warn',
        `${agents} still at work when the script ended, and nobody waited for them: they were cancelled.`,
      );
    }
    if (this.#reuse === undefined) return;
    await this.#bounded(this.#reuse.settled(), GRACE_MS);
    this.#reuse.report();
  }

  /** Writes down how the run ended: `output.json` first, then the event that points at it, then the record. */
  async #conclude(end: SandboxEnd): Promise<RunResult> {
    const { directory, options } = this.#prepared;
    const outcome = this.#decide(end);
    const output = this.#compose(outcome);
    const outputFile = await directory.saveOutput(output, outcome.resultJson);
    this.#events.append('run.finished', {
      status: output.status,
      ...(output.error === undefined ? {} : { error: output.error }),
      census: output.census,
      usage: output.usage,
      limitsHit: output.limits_hit,
      ...spentByPhase(output),
      ...(outcome.resultJson === undefined ? {} : { resultPreview: this.#resultPreview(outcome.resultJson) }),
      outputFile,
      resume: output.resume,
    });
    await directory.events.flush();
    await directory.saveRecord({
      ...directory.record,
      status: output.status,
      updatedAt: this.#clock.now(),
      finishedAt: this.#clock.now(),
      ...(output.error === undefined ? {} : { error: output.error }),
      census: output.census,
      usage: output.usage,
    });
    await this.#bounded(Promise.allSettled((options.sinks ?? []).map(async (sink) => sink.close?.())), SINK_GRACE_MS);
    return { runId: directory.runId, output, resultJson: outcome.resultJson, error: outcome.error, outputFile };
  }

  #decide(end: SandboxEnd): RunOutcome {
    const { options, directory, script, argsJson } = this.#prepared;
    let outcome = outcomeOf(end, this.#reasonOf(end));
    const hint = missingArgs(end, script.source, argsJson);
    for (const warning of hint === undefined ? outcome.warnings : [hint]) this.#log('warn', warning);
    if (options.failOnAgentError === true) outcome = failedForAgents(outcome, this.#calls.failedCount);
    const { error } = outcome;
    if (error === undefined) return outcome;
    if (error.kind === 'limit' && !this.#limits.has(error.code)) this.#limit(error);
    return { ...outcome, error: withResumeCommand(error, this.#resumeCommand(directory.runId)) };
  }

  /**
   * Why a run ended against its script. A stop that came after the script's own end changes nothing (S-33, E-11); a tripped
   * breaker decides whatever the script made of it (S-13).
   */
  #reasonOf(end: SandboxEnd): WorkflowError | undefined {
    if (end.type === 'killed') return this.#stopped;
    return end.type === 'returned' || end.type === 'threw' ? this.#calls.brokenBy : undefined;
  }

  #compose(outcome: RunOutcome) {
    const { summary } = this.#events;
    const { redactor, directory, options } = this.#prepared;
    const error = outcome.error === undefined ? undefined : toErrorRecord(outcome.error);
    return {
      status: outcome.status,
      runId: directory.runId,
      ...(error === undefined ? {} : { error: { ...error, message: redactor.text(error.message) } }),
      usage: summary.usage(this.#clock.now()),
      ...spentCosts(this.#prepared.costs, summary),
      census: summary.census(),
      failures: [...summary.failures],
      logs: [...summary.logs],
      limits_hit: [...this.#limits.keys()],
      ...(summary.worktrees.length === 0 ? {} : { worktrees: [...summary.worktrees] }),
      ...(options.backend.simulated ? { simulated: true } : {}),
      resume: this.#resumeCommand(directory.runId),
    };
  }

  #resultPreview(resultJson: string): string {
    return previewWithNote(this.#prepared.redactor.text(resultJson), PREVIEW_CHARACTERS);
  }

  #resumeCommand(runId: string): string {
    return this.#prepared.options.resumeCommand?.(runId, [...this.#limits.values()]) ?? `wf resume ${runId}`;
  }

  async #bounded(work: Promise<unknown>, limitMs: number): Promise<void> {
    let timer: TimerHandle | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = this.#clock.after(limitMs, resolve);
    });
    await Promise.race([work, limit]);
    timer?.cancel();
  }
}
