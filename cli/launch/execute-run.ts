import { resolve } from 'node:path';
import { isWorkflowError, toErrorRecord, WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentBackend, Redactor } from '../../runtime/ports.ts';
import { createRedactor } from '../../runtime/redact.ts';
import type { RunHandle, WorkflowOptions } from '../../runtime/run-options.ts';
import type { Sandbox } from '../../runtime/sandbox/sandbox.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOfError, exitCodeOfRun } from '../exit-code.ts';
import { readPrices } from '../flags/read-prices.ts';
import type { RunFlags } from '../flags/run-flags.ts';
import type { StoredFlags } from '../flags/stored-flags.ts';
import { printError, wantsStacks } from '../output/print-error.ts';
import { refusedOutput } from '../output/refused-output.ts';
import { type FaceSource, openRunFace, type RunFace } from '../output/run-face.ts';
import type { TextOutput } from '../output/text-output.ts';
import { createBackend, recordAnswers } from './create-backend.ts';
import { decideLaunch } from './decide-launch.ts';
import { loadRunHooks } from './run-hooks.ts';
import { sharedResults } from './shared-results.ts';
import { listenForStop, type StopSignals } from './stop-signals.ts';
import { transcriptLayout } from './transcript-layouts.ts';

/** What `run` and `resume` do differently. */
export interface LaunchPlan {
  /** Options of the earlier launch, on a resume. */
  readonly stored: StoredFlags;
  readonly source: FaceSource;
  /** Working directory of the agents. */
  readonly agentsCwd: string;
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
  let inner: AgentBackend | undefined;
  let sandbox: Sandbox | undefined;
  const stop = listenForStop(context, () => sandbox?.kill());
  try {
    const [plan, { createRunStore }] = await Promise.all([makePlan(), import('../../cache/run-store.ts')]);
    const prices = await readPrices(flags.prices, plan.stored.prices, context.cwd);
    const decided = decideLaunch(context, flags, root, plan.stored, prices);
    const { choice, model, tools, secrets, options, resumeCommand } = decided;
    const hooks = await loadRunHooks(context, flags, {
      backend: choice.name,
      cwd: plan.agentsCwd,
      permissionMode: tools.permissionMode,
      onProblem: options.onNotice,
    });
    const layout = await transcriptLayout(flags.layout ?? plan.stored.layout, context);
    const place = { ...context, agentsCwd: plan.agentsCwd, hooks, note: options.onNotice };
    inner = await createBackend(
      choice.name,
      { responses: flags.responses, model, agentCommand: choice.agentCommand, tools },
      place,
    );
    const { record } = flags;
    refuseSameFile(context, flags);
    const redactor = createRedactor(secrets);
    const backend = record === undefined ? inner : await recordAnswers(inner, resolve(context.cwd, record), redactor);
    const shown = { ...context, stderr: withoutSecretsIn(context.stderr, redactor) };
    const face = await openRunFace(shown, flags, plan.source);
    sandbox = context.takeSandbox();
    const handle = await plan.launch({
      ...options,
      store: createRunStore({ root, redactor, layout }),
      backend,
      sinks: face.sinks,
      ...(flags.reuse === true ? await sharedResults(root) : {}),
      signal: stop.signal,
      ...(sandbox === undefined ? {} : { sandbox }),
    });
    stop.watch(handle);
    const exitCode = await endOf(handle, face, stop, resumeCommand(handle.runId));
    return await closed(shown, backend, exitCode);
  } finally {
    stop.dispose();
    sandbox?.kill();
    await inner?.close();
  }
}

/** What a script threw may hold a secret. */
function withoutSecretsIn(output: TextOutput, redactor: Redactor): TextOutput {
  return Object.create(output, { write: { value: (text: string) => output.write(redactor.text(text)) } }) as TextOutput;
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

/** The recording replaces its file, and would take the planned answers with it. */
function refuseSameFile({ cwd }: CliContext, { record, responses }: RunFlags): void {
  if (record === undefined || responses === undefined || resolve(cwd, record) !== resolve(cwd, responses)) return;
  throw new WorkflowError(
    'USAGE_INVALID',
    `--record would replace the file of --responses, ${record}. Give it another.`,
  );
}
