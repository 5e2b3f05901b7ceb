import { findNestedWorkflow } from '../../hosts/saved-workflows/find-workflow.ts';
import type { WorkflowError } from '../../protocol/workflow-error.ts';
import { secretValuesOf } from '../../runtime/redact.ts';
import type { RunLimits, WorkflowOptions } from '../../runtime/run-options.ts';
import type { CliContext } from '../cli-context.ts';
import type { GivenPrices } from '../flags/read-prices.ts';
import { limitsOf, type RunFlags } from '../flags/run-flags.ts';
import type { StoredFlags } from '../flags/stored-flags.ts';
import { mergeToolFlags, TOOL_NAMES, type ToolFlags, unknownToolNames } from '../flags/tool-flags.ts';
import { defaultStateRoot } from '../state/state-root.ts';
import { type BackendChoice, chooseBackend, SIMULATED_NOTICE } from './choose-backend.ts';
import { confirmFanOut } from './confirm-fan-out.ts';
import { lazyWorktrees } from './lazy-worktrees.ts';
import { resumeCommand } from './resume-command.ts';

/** What was decided about a launch before anything was opened. */
export interface LaunchDecisions {
  readonly choice: BackendChoice;
  readonly model: string | undefined;
  /** What agents may do. */
  readonly tools: ToolFlags;
  /** Values that must not appear in any output. */
  readonly secrets: readonly string[];
  readonly options: Omit<WorkflowOptions, 'store' | 'backend'>;
  resumeCommand(runId: string, limitsHit?: readonly WorkflowError[]): string;
}

/**
 * Decides a launch: what was typed goes before the environment, that before what an earlier launch left.
 *
 * @throws USAGE_INVALID and AGENT_AUTH as {@link chooseBackend} does
 */
export function decideLaunch(
  context: CliContext,
  flags: RunFlags,
  root: string,
  stored: StoredFlags,
  prices?: GivenPrices,
): LaunchDecisions {
  const choice = chooseBackend(flags, context.env, stored);
  announce(context, flags, choice);
  warnOfNames(context, flags);
  const storedOptions = mergeFlags(flags, context.env, stored, choice);
  const { concurrency, failOnAgentError, lanes, limits = {}, model } = storedOptions;
  const secrets = secretValuesOf(context.env);
  const commandFor = (runId: string, limitsHit?: readonly WorkflowError[]): string =>
    resumeCommand({
      runId,
      stateRoot: root,
      defaultStateRoot: defaultStateRoot(context.homeDirectory),
      backend: flags.backend,
      agentCommand: flags.agentCommand,
      model: flags.model,
      limitsHit,
    });
  return {
    choice,
    model,
    tools: storedOptions,
    secrets,
    resumeCommand: commandFor,
    options: {
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(lanes === undefined ? {} : { lanes }),
      ...(failOnAgentError === undefined ? {} : { failOnAgentError }),
      ...(flags.confirmAbove === undefined
        ? {}
        : { confirmAbove: flags.confirmAbove, confirmFanOut: (request) => confirmFanOut(context, flags, request) }),
      limits,
      secrets,
      worktrees: lazyWorktrees(context.env),
      ...(prices === undefined ? {} : { prices: prices.table }),
      storedOptions: { ...storedOptions, ...(prices === undefined ? {} : { prices: prices.given }) },
      resumeCommand: commandFor,
      findWorkflow: (ref, callerDirectory) => findNestedWorkflow(ref, callerDirectory, context),
      onNotice: (text) => {
        if (flags.quiet !== true) context.stderr.write(`note: ${text}\n`);
      },
    },
  };
}

/** In text the run's own first lines say that it is simulated. */
function announce(context: CliContext, flags: RunFlags, { notice }: BackendChoice): void {
  if (notice === undefined || (flags.outputFormat === 'text' && notice === SIMULATED_NOTICE)) return;
  context.stderr.write(`note: ${notice}\n`);
}

/** A rule with a wrong name would do nothing, without a word. */
function warnOfNames(context: CliContext, flags: RunFlags): void {
  const names = unknownToolNames(flags);
  if (names.length === 0) return;
  context.stderr.write(`note: no tool of wf is named ${names.join(', ')}; its tools are ${TOOL_NAMES.join(', ')}\n`);
}

function mergeFlags(flags: RunFlags, env: CliContext['env'], stored: StoredFlags, choice: BackendChoice): StoredFlags {
  const model = flags.model ?? stored.model;
  const { agentCommand } = choice;
  const concurrency = flags.concurrency ?? stored.concurrency;
  const lanes = flags.lane ?? stored.lanes;
  const failOnAgentError = flags.failOnAgentError ?? stored.failOnAgentError;
  const layout = flags.layout ?? stored.layout;
  const limits: Partial<RunLimits> = { ...stored.limits, ...limitsOf(flags, env) };
  return {
    backend: choice.name,
    limits,
    ...(agentCommand === undefined ? {} : { agentCommand }),
    ...mergeToolFlags(flags, stored),
    ...(model === undefined ? {} : { model }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(lanes === undefined ? {} : { lanes }),
    ...(layout === undefined ? {} : { layout }),
    ...(failOnAgentError === undefined ? {} : { failOnAgentError }),
    ...(stored.startedByPath === undefined ? {} : { startedByPath: stored.startedByPath }),
  };
}
