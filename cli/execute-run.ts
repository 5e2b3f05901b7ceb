import { resolve } from 'node:path';
import { toErrorRecord, WorkflowError } from '../protocol/workflow-error.ts';
import type { AgentBackend, EventSink, RunStore } from '../runtime/ports.ts';
import { createRedactor, secretValuesOf } from '../runtime/redact.ts';
import type { RunHandle, RunLimits, RunResult, WorkflowOptions } from '../runtime/run-options.ts';
import type { Sandbox } from '../runtime/sandbox/sandbox.ts';
import { type BackendChoice, chooseBackend } from './choose-backend.ts';
import type { CliContext } from './cli-context.ts';
import { createBackend } from './create-backend.ts';
import { exitCodeOfRun, exitCodeOfSignal } from './exit-code.ts';
import { findNestedWorkflow } from './find-workflow.ts';
import { findKillSwitch } from './kill-switch.ts';
import { resumeCommand } from './resume-command.ts';
import { openRunFace, type RunFace } from './run-face.ts';
import { limitsOf, type RunFlags } from './run-flags.ts';
import { defaultStateRoot, stateRoot } from './state-root.ts';
import { listenForStop, type StopSignals } from './stop-signals.ts';
import type { StoredFlags } from './stored-flags.ts';

/** What `run` and `resume` do differently. */
export interface LaunchPlan {
  /** Options of the earlier launch, on a resume. */
  readonly stored: StoredFlags;
  /** Text of the script, for `--include-source`; undefined when the stored one runs. */
  readonly scriptText: string | undefined;
  launch(options: WorkflowOptions): Promise<RunHandle>;
}

/** @throws WORKFLOWS_DISABLED naming the switch (H-5) */
export function refuseWhenDisabled(context: CliContext): void {
  const found = findKillSwitch(context);
  if (found !== undefined) {
    throw new WorkflowError('WORKFLOWS_DISABLED', `workflows are switched off here by ${found}; remove it to run them`);
  }
}

/** Gives the state directory that the options name. */
export function stateRootOf(context: CliContext, flags: { readonly stateDir?: string | undefined }): string {
  return stateRoot({
    flag: flags.stateDir,
    env: context.env,
    cwd: context.cwd,
    homeDirectory: context.homeDirectory,
  });
}

/**
 * Runs one launch from its options to its exit code: backend, output, signals, the end. Errors before the launch are
 * thrown; later ones are part of the run.
 */
export async function executeRun(
  context: CliContext,
  flags: RunFlags,
  root: string,
  plan: (store: RunStore) => Promise<LaunchPlan>,
): Promise<number> {
  let backend: AgentBackend | undefined;
  let sandbox: Sandbox | undefined;
  const stop = listenForStop(context, () => sandbox?.kill());
  try {
    const { createRunStore } = await import('../cache/run-store.ts');
    const secrets = secretValuesOf(context.env);
    const store = createRunStore({ root, redactor: createRedactor(secrets) });
    const planned = await plan(store);
    const choice = chooseBackend(flags, context.env, planned.stored.backend);
    const model = flags.model ?? planned.stored.model;
    backend = await createBackend(choice.name, { ...flags, ...(model === undefined ? {} : { model }) }, context);
    const recorder = await recorderFor(flags, backend, context.cwd);
    const face = await openRunFace(context, flags, planned.scriptText);
    if (choice.notice !== undefined) context.stderr.write(`note: ${choice.notice}\n`);
    sandbox = context.takeSandbox();
    const handle = await planned.launch({
      ...launchOptions(context, flags, planned.stored, { choice, root, model, secrets }),
      store,
      backend: recorder?.backend ?? backend,
      sinks: face.sinks,
      signal: stop.signal,
      ...(sandbox === undefined ? {} : { sandbox }),
    });
    stop.watch(handle);
    const exitCode = await endOf(context, handle, face, stop, root);
    await recorder?.save();
    return exitCode;
  } catch (error) {
    if (stop.received === undefined || toErrorRecord(error).code !== 'RUN_CANCELLED') throw error;
    return exitCodeOfSignal(stop.received);
  } finally {
    stop.dispose();
    sandbox?.kill();
    await backend?.close();
  }
}
