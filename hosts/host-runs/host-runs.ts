import { join } from 'node:path';
import { loadAgentTypes } from '../../agents/agent-types.ts';
import { MOST_PENDING } from '../../agents/host/host-backend.ts';
import type { StepResult } from '../../agents/host/step.ts';
import { fingerprintOf } from '../../agents/host/step-board.ts';
import { StepFile } from '../../agents/host/step-file.ts';
import { nodeDisk } from '../../cache/disk.ts';
import { resolveRunId } from '../../cache/run-listing.ts';
import { readRunRecord } from '../../cache/run-record-file.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { EventSink, RunStore, Worktrees } from '../../runtime/ports.ts';
import { createRedactor } from '../../runtime/redact.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import type { RunLimits, WorkflowOptions } from '../../runtime/run-options.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';
import { findNestedWorkflow } from '../saved-workflows/find-workflow.ts';
import { HostRun } from './host-run.ts';
import type { HostRunState } from './host-run-state.ts';
import { readOutput } from './read-output.ts';

export interface HostRunsOptions {
  readonly store: RunStore;
  /** Working directory of the runs; absolute. */
  readonly cwd: string;
  readonly homeDirectory: string;
  readonly limits?: Partial<RunLimits>;
  /** Working copies for steps that ask for one. @defaultValue such a step fails */
  readonly worktrees?: Worktrees;
  /** Values that must not appear in any event, log or transcript. */
  readonly secrets?: readonly string[];
  /** Readers of each run's events. */
  readonly sinks?: () => readonly EventSink[];
  readonly onNotice?: (text: string) => void;
}

/** A workflow that is to be done by the connected agent, its script read. */
export interface HostRunRequest {
  readonly script: string;
  readonly fileName?: string | undefined;
  /** Absolute. */
  readonly scriptPath?: string | undefined;
  readonly argsJson?: string | undefined;
  readonly maxPending: number;
}

const LOG_LINES = 20;
const LOG_CHARACTERS = 500;
/** Runs of one server that may be open at a time: each has a process of its own. */
const MOST_RUNS = 32;

/** The runs whose agents the connected agent does: those under way, and those that an earlier server left (H-16). */
export class HostRuns {
  readonly #options: HostRunsOptions;
  readonly #runs = new Map<string, HostRun>();
  /** Runs that are being taken up, so that calls that come together share one. */
  readonly #opening = new Map<string, Promise<HostRun | HostRunState>>();

  constructor(options: HostRunsOptions) {
    this.#options = options;
  }

  /** @throws SCRIPT_…, USAGE_INVALID, STATE_UNWRITABLE, before anything is handed out */
  async start(request: HostRunRequest): Promise<HostRun> {
    this.#refuseTooMany();
    const { cwd } = this.#options;
    const run = await this.#launch(request.maxPending, (shared) =>
      startWorkflow({
        ...shared,
        cwd,
        script: request.script,
        ...(request.fileName === undefined ? {} : { fileName: request.fileName }),
        ...(request.scriptPath === undefined ? {} : { scriptPath: request.scriptPath }),
        argsJson: request.argsJson,
        storedOptions: { backend: 'host', maxPending: request.maxPending },
      }),
    );
    this.#runs.set(run.runId, run);
    return run;
  }

  /**
   * Finds a run by its id or its unique beginning: one under way, one that is taken up again, or how one ended.
   *
   * @throws REPLAY_…; USAGE_INVALID for a run that is not done by the connected agent
   */
  async find(idOrPrefix: string): Promise<HostRun | HostRunState> {
    const known = this.#runs.get(idOrPrefix);
    if (known !== undefined) return known;
    const runId = await resolveRunId(this.#options.store.root, idOrPrefix);
    const found = this.#runs.get(runId) ?? this.#opening.get(runId);
    if (found !== undefined) return found;
    const opening = this.#takeUp(runId).finally(() => this.#opening.delete(runId));
    this.#opening.set(runId, opening);
    return opening;
  }

  /** Whether a run that is over took this very answer for the step: handing it in again is harmless (H-15). */
  hasTaken(runId: string, stepId: string, result: StepResult): boolean {
    const rows = new StepFile(join(this.#options.store.root, 'runs', runId, 'steps.jsonl')).read();
    const fingerprint = fingerprintOf(result);
    return rows.some((row) => row.type === 'ended' && row.stepId === stepId && row.fingerprint === fingerprint);
  }

  async #takeUp(runId: string): Promise<HostRun | HostRunState> {
    const { store } = this.#options;
    const path = join(store.root, 'runs', runId);
    const record = await readRunRecord(nodeDisk, path);
    if (record.backend !== 'host') {
      throw new WorkflowError(
        'USAGE_INVALID',
        `The run ${runId} is not done by the connected agent: its agents run on the backend ${record.backend}. Ask workflow_status about it.`,
      );
    }
    if (record.status !== 'running') return endedState(path, record);
    this.#refuseTooMany();
    const run = await this.#launch(pendingOf(record), (shared) => resumeWorkflow({ ...shared, runId }));
    this.#runs.set(runId, run);
    return run;
  }

  async #launch(
    maxPending: number,
    launch: (shared: WorkflowOptions) => ReturnType<typeof startWorkflow>,
  ): Promise<HostRun> {
    const { store, cwd, homeDirectory, limits, worktrees, secrets = [], sinks, onNotice } = this.#options;
    return HostRun.launch({
      store,
      maxPending,
      agentTypes: await loadAgentTypes({ cwd, home: homeDirectory }),
      redactor: createRedactor(secrets),
      launch: (given) =>
        launch({
          ...given,
          secrets,
          ...(limits === undefined ? {} : { limits }),
          ...(worktrees === undefined ? {} : { worktrees }),
          ...(sinks === undefined ? {} : { sinks: sinks() }),
          ...(onNotice === undefined ? {} : { onNotice }),
          findWorkflow: (ref, callerDirectory) => findNestedWorkflow(ref, callerDirectory, { cwd, homeDirectory }),
        }),
    });
  }

  #refuseTooMany(): void {
    for (const [runId, run] of this.#runs) if (run.isOver && this.#runs.size >= MOST_RUNS) this.#runs.delete(runId);
    if (this.#runs.size < MOST_RUNS) return;
    throw new WorkflowError(
      'USAGE_INVALID',
      `${MOST_RUNS} runs wait for the connected agent already. Go on with one of them, or end one with wf_cancel.`,
    );
  }
}

function pendingOf({ options }: RunRecord): number {
  const { maxPending } = options;
  const isCount = Number.isInteger(maxPending) && (maxPending as number) >= 1 && (maxPending as number) <= MOST_PENDING;
  return isCount ? (maxPending as number) : 1;
}

/** How a run ended, from its files. */
async function endedState(path: string, record: RunRecord): Promise<HostRunState> {
  const outputFile = join(path, 'output.json');
  const output = await readOutput(outputFile);
  return {
    runId: record.runId,
    status: record.status === 'killed' ? 'cancelled' : record.status === 'completed' ? 'completed' : 'failed',
    pending: [],
    logs: (output?.logs ?? []).slice(-LOG_LINES).map(({ text }) => text.slice(0, LOG_CHARACTERS).toWellFormed()),
    outputFile,
    ...(output?.result === undefined ? {} : { resultJson: JSON.stringify(output.result) }),
    ...(record.error === undefined ? {} : { error: record.error }),
  };
}
