import { join } from 'node:path';
import type { AgentTypes } from '../../agents/agent-types.ts';
import { createHostBackend, MOST_PENDING } from '../../agents/host/host-backend.ts';
import type { StepResult } from '../../agents/host/step.ts';
import { StepBoard, type StepReply } from '../../agents/host/step-board.ts';
import { StepFile } from '../../agents/host/step-file.ts';
import { toErrorRecord } from '../../protocol/workflow-error.ts';
import type { AgentBackend, Redactor, RunDirectory, RunStore } from '../../runtime/ports.ts';
import type { RunHandle, RunResult, WorkflowOptions } from '../../runtime/run-options.ts';
import { spawnSandbox } from '../../runtime/sandbox/spawn-sandbox.ts';
import type { HostRunState } from './host-run-state.ts';
import { ScriptWatch } from './script-watch.ts';
import { TurnGate } from './turn-gate.ts';

export interface HostRunOptions {
  readonly store: RunStore;
  readonly agentTypes: AgentTypes;
  /** Steps handed out at a time, 1 to {@link MOST_PENDING}. */
  readonly maxPending: number;
  readonly redactor: Redactor;
  /** Starts or resumes the run with what is given. */
  readonly launch: (
    given: Required<Pick<WorkflowOptions, 'store' | 'backend' | 'sandbox' | 'policy' | 'concurrency'>>,
  ) => Promise<RunHandle>;
}

const LOG_LINES = 20;
const LOG_CHARACTERS = 500;

/** One run whose agents are done by whoever is connected (H-12 to H-16). */
export class HostRun {
  readonly #options: HostRunOptions;
  readonly #gate: TurnGate;
  readonly #watch: ScriptWatch;
  readonly #logs: string[] = [];
  /** There as soon as the run has its directory, which is before its first agent. */
  #board: StepBoard | undefined;
  #file: StepFile | undefined;
  #result: RunResult | undefined;
  #lost: unknown;
  #over: Promise<void> = Promise.resolve();
  #handle: RunHandle | undefined;

  private constructor(options: HostRunOptions) {
    this.#options = options;
    this.#watch = new ScriptWatch(spawnSandbox(), {
      held: () => this.#gate.waitingCount + (this.#board?.openCount ?? 0),
      onLog: (_level, text) => this.#keepLog(text),
    });
    this.#gate = new TurnGate({ maxPending: options.maxPending, onChange: this.#watch.touch });
  }

  /** @throws what starting or resuming a run throws; nothing is left behind then */
  static async launch(options: HostRunOptions): Promise<HostRun> {
    const run = new HostRun(options);
    await run.#launch();
    return run;
  }

  get runId(): string {
    return this.#handle?.runId ?? '';
  }

  get isOver(): boolean {
    return this.#result !== undefined || this.#lost !== undefined;
  }

  /** Whether the step was handed out, by this server or an earlier one, and this one has heard of it. */
  knows(stepId: string): boolean {
    return this.#steps().knows(stepId);
  }

  /** Takes an answer. @throws STEP_UNKNOWN, STEP_ENDED, STATE_UNWRITABLE */
  answer(stepId: string, result: StepResult): StepReply {
    return this.#steps().answer(stepId, result);
  }

  /** Ends the run as `killed`; resolves when that is written down. */
  cancel(reason: string): Promise<void> {
    this.#handle?.stop(reason);
    return this.#over;
  }

  /**
   * Gives the state as soon as it can be told: steps wait and the script has come to rest, or the run is over. When `signal`
   * aborts first it is `running`.
   */
  async state(signal: AbortSignal): Promise<HostRunState> {
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    const onAbort = (): void => stop();
    signal.addEventListener('abort', onAbort, { once: true });
    while (!signal.aborted && !this.isOver) {
      const change = this.#watch.changed();
      await Promise.race([this.#watch.rest(), this.#over, stopped]);
      if (this.#steps().openCount > 0) break;
      await Promise.race([change, this.#over, stopped]);
    }
    signal.removeEventListener('abort', onAbort);
    return this.#describe();
  }

  async #launch(): Promise<void> {
    const { store, launch } = this.#options;
    const handle = await launch({
      store: {
        root: store.root,
        create: async (init) => this.#openSteps(await store.create(init)),
        open: async (runId, options) => this.#openSteps(await store.open(runId, options)),
      },
      sandbox: this.#watch.sandbox,
      policy: this.#gate.policy,
      concurrency: MOST_PENDING,
      backend: this.#backend(),
    });
    this.#handle = handle;
    this.#over = handle.done.then(
      (result) => {
        this.#result = result;
        this.#file?.close();
      },
      (error: unknown) => {
        this.#lost = error ?? new Error('the run was lost');
        this.#file?.close();
      },
    );
    const { leftOpen } = this.#steps();
    if (leftOpen.length > 0) void this.#watch.rest().then(() => this.#gate.open(leftOpen));
  }

  /** The run is held by this process now, and by no other. */
  #openSteps(directory: RunDirectory): RunDirectory {
    const { agentTypes } = this.#options;
    this.#file = new StepFile(join(directory.path, 'steps.jsonl'));
    this.#board = new StepBoard({
      runId: directory.runId,
      file: this.#file,
      roleOf: (type) => (type === undefined ? undefined : agentTypes.get(type)?.instructions),
      onChange: this.#watch.touch,
    });
    if (this.#board.leftOpen.length > 0) this.#gate.hold();
    return directory;
  }

  #backend(): AgentBackend {
    const inner = createHostBackend({ board: () => this.#steps(), agentTypes: this.#options.agentTypes });
    return {
      ...inner,
      run: (request, signal, report) => inner.run(request, signal, report).finally(() => this.#gate.left()),
    };
  }

  #steps(): StepBoard {
    if (this.#board === undefined) throw new Error('the run has no directory yet');
    return this.#board;
  }

  #describe(): HostRunState {
    const { runId } = this;
    const logs = [...this.#logs];
    if (this.#lost !== undefined) {
      return { runId, status: 'failed', pending: [], logs, error: toErrorRecord(this.#lost) };
    }
    if (this.#result === undefined) {
      const pending = this.#steps().pending();
      return { runId, status: pending.length > 0 ? 'awaiting_agent' : 'running', pending, logs };
    }
    const { output, resultJson, outputFile } = this.#result;
    const { error } = output;
    return {
      runId,
      status: output.status === 'killed' ? 'cancelled' : output.status,
      pending: [],
      logs,
      outputFile,
      ...(resultJson === undefined ? {} : { resultJson }),
      ...(error === undefined ? {} : { error }),
    };
  }

  #keepLog(text: string): void {
    const shown = this.#options.redactor.text(text);
    this.#logs.push(shown.length > LOG_CHARACTERS ? `${shown.slice(0, LOG_CHARACTERS).toWellFormed()}…` : shown);
    if (this.#logs.length > LOG_LINES) this.#logs.shift();
  }
}
