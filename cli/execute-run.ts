import { isWorkflowError, toErrorRecord, WorkflowError } from '../protocol/workflow-error.ts';
import type { AgentBackend } from '../runtime/ports.ts';
import { createRedactor, secretValuesOf } from '../runtime/redact.ts';
import type { RunHandle, RunLimits, WorkflowOptions } from '../runtime/run-options.ts';
import type { Sandbox } from '../runtime/sandbox/sandbox.ts';
import { type BackendChoice, chooseBackend, SIMULATED_NOTICE } from './choose-backend.ts';
import type { CliContext } from './cli-context.ts';
import { createBackend } from './create-backend.ts';
import { exitCodeOfError, exitCodeOfRun } from './exit-code.ts';
import { findNestedWorkflow } from './find-workflow.ts';
import { printError, wantsStacks } from './print-error.ts';
import { refusedOutput } from './refused-output.ts';
import { resumeCommand } from './resume-command.ts';
import { type FaceSource, openRunFace, type RunFace } from './run-face.ts';
import { limitsOf, type RunFlags } from './run-flags.ts';
import { defaultStateRoot } from './state-root.ts';
import { listenForStop, type StopSignals } from './stop-signals.ts';
import type { StoredFlags } from './stored-flags.ts';

/** What `run` and `resume` do differently. */
export interface LaunchPlan {
  /** Options of the earlier launch, on a resume. */
  readonly stored: StoredFlags;
  readonly source: FaceSource;
  launch(options: WorkflowOptions): Promise<RunHandle>;
}

/**
 * Runs one launch from its options to its exit code: backend, output, signals, the end. Errors before the launch are
 * thrown; later ones are part of the run.
 */
export async function executeRun(
  context: CliContext,
  flags: RunFlags,
  root: string,
  makePlan: () => Promise<LaunchPlan>,
): Promise<number> {
  let backend: AgentBackend | undefined;
  let sandbox: Sandbox | undefined;
  const stop = listenForStop(context, () => sandbox?.kill());
  try {
    const [plan, { createRunStore }] = await Promise.all([makePlan(), import('../cache/run-store.ts')]);
    const secrets = secretValuesOf(context.env);
    const setup = setUp(context, flags, root, plan.stored, secrets);
    const { model } = setup.storedOptions;
    backend = await createBackend(setup.choice.name, { ...flags, ...(model === undefined ? {} : { model }) }, context);
    const face = await openRunFace(context, flags, plan.source);
    sandbox = context.takeSandbox();
    const handle = await plan.launch({
      ...setup.options,
      store: createRunStore({ root, redactor: createRedactor(secrets) }),
      backend,
      sinks: face.sinks,
      signal: stop.signal,
      ...(sandbox === undefined ? {} : { sandbox }),
    });
    stop.watch(handle);
    const exitCode = await endOf(handle, face, stop, setup.resumeCommand(handle.runId));
    return await closed(context, backend, exitCode);
  } finally {
    stop.dispose();
    sandbox?.kill();
    await backend?.close();
  }
}

/** The run has been shown: what goes wrong now is said, and changes the exit code of a good run only. */
async function closed(context: CliContext, backend: AgentBackend, exitCode: number): Promise<number> {
  try {
    await backend.close();
    return exitCode;
  } catch (error) {
    printError(context.stderr, error, wantsStacks(context.env));
    return exitCode === 0 ? exitCodeOfError(toErrorRecord(error).code) : exitCode;
  }
}

interface SetUp {
  readonly choice: BackendChoice;
  readonly storedOptions: StoredFlags;
  readonly options: Omit<WorkflowOptions, 'store' | 'backend'>;
  resumeCommand(runId: string): string;
}

/** Makes the options of a launch from what was typed, what the environment says and what an earlier launch left. */
function setUp(
  context: CliContext,
  flags: RunFlags,
  root: string,
  stored: StoredFlags,
  secrets: readonly string[],
): SetUp {
  const choice = chooseBackend(flags, context.env, stored.backend);
  const say = (text: string): void => {
    if (flags.quiet !== true) context.stderr.write(`note: ${text}\n`);
  };
  // In text the first line of the run says so itself.
  if (choice.notice !== undefined && (flags.outputFormat !== 'text' || choice.notice !== SIMULATED_NOTICE)) {
    context.stderr.write(`note: ${choice.notice}\n`);
  }
  const concurrency = flags.concurrency ?? stored.concurrency;
  const failOnAgentError = flags.failOnAgentError ?? stored.failOnAgentError;
  const limits: Partial<RunLimits> = { ...stored.limits, ...limitsOf(flags, context.env) };
  const model = flags.model ?? stored.model;
  const resume = (runId: string): string =>
    resumeCommand({
      runId,
      stateRoot: root,
      defaultStateRoot: defaultStateRoot(context.homeDirectory),
      backend: flags.backend,
      model: flags.model,
    });
  const storedOptions: StoredFlags = {
    backend: choice.name,
    limits,
    ...(model === undefined ? {} : { model }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(failOnAgentError === undefined ? {} : { failOnAgentError }),
    ...(stored.startedByPath === undefined ? {} : { startedByPath: stored.startedByPath }),
  };
  return {
    choice,
    storedOptions,
    resumeCommand: resume,
    options: {
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(failOnAgentError === undefined ? {} : { failOnAgentError }),
      limits,
      secrets,
      storedOptions: { ...storedOptions },
      resumeCommand: resume,
      findWorkflow: (ref, callerDirectory) => findNestedWorkflow(ref, callerDirectory, context),
      onNotice: say,
    },
  };
}

/** Waits for the end of a run, shows it and gives the exit code. A stopped run that does not end in time is left behind. */
async function endOf(handle: RunHandle, face: RunFace, stop: StopSignals, resume: string): Promise<number> {
  const { runId } = handle;
  try {
    const result = await Promise.race([handle.done, stop.overdue]);
    if (result !== undefined) {
      await Promise.race([face.showEnd(result), stop.overdue]);
      return exitCodeOfRun({ status: result.output.status, error: result.error }, stop.received);
    }
    const error = new WorkflowError(
      'RUN_CANCELLED',
      'the run was stopped and did not end in time; what its agents finished is kept',
    );
    face.showLoss(refusedOutput(toErrorRecord(error), { status: 'killed', runId, resume }), error);
    return exitCodeOfRun({ status: 'killed' }, stop.received);
  } catch (error) {
    if (!isWorkflowError(error)) throw error;
    face.showLoss(refusedOutput(toErrorRecord(error), { runId, resume }), error);
    return exitCodeOfError(error.code);
  }
}
