import { createRunStore } from '../../cache/run-store.ts';
import { HostRuns } from '../../hosts/host-runs/host-runs.ts';
import { launchTool, lookAfterTools } from '../../hosts/mcp/background-tools.ts';
import { hostTools } from '../../hosts/mcp/host-tools.ts';
import { disabledInstructions, MCP_INSTRUCTIONS } from '../../hosts/mcp/mcp-instructions.ts';
import type { McpTool } from '../../hosts/mcp/mcp-tool.ts';
import { RunProgress } from '../../hosts/mcp/run-progress.ts';
import { serveMcp } from '../../hosts/mcp/serve-mcp.ts';
import { findKillSwitch } from '../../hosts/saved-workflows/kill-switch.ts';
import { type BackgroundRuns, createBackgroundRuns } from '../../hosts/workflow-tool/background-runs.ts';
import type { AgentBackend } from '../../runtime/ports.ts';
import { createRedactor, secretValuesOf } from '../../runtime/redact.ts';
import type { CliContext, StopSignal } from '../cli-context.ts';
import { exitCodeOfSignal } from '../exit-code.ts';
import type { McpFlags } from '../flags/mcp-flags.ts';
import { readPrices } from '../flags/read-prices.ts';
import { limitsOf } from '../flags/run-flags.ts';
import { createBackend } from '../launch/create-backend.ts';
import { decideLaunch } from '../launch/decide-launch.ts';
import { lazyWorktrees } from '../launch/lazy-worktrees.ts';
import { loadRunHooks } from '../launch/run-hooks.ts';
import { sharedResults } from '../launch/shared-results.ts';
import { transcriptLayout } from '../launch/transcript-layouts.ts';
import { stateRoot } from '../state/state-root.ts';

/** How long runs in the background may take to end before the process leaves without them. */
const END_WITHIN_MS = 1_500;

/** What a server offers, and what must end with it. */
interface OpenTools {
  readonly tools: readonly McpTool[];
  close(): Promise<void>;
}

/**
 * `wf mcp`: serves until the client is gone or a signal comes. Source: spec H-10, H-11.
 *
 * Runs in the background are stopped then. Those that the connected agent does are left as they are, to be taken up by the
 * next server (H-16).
 *
 * @throws USAGE_INVALID, AGENT_AUTH, FILE_… for options that do not go together
 */
export async function mcpCommand(context: CliContext, flags: McpFlags): Promise<number> {
  const switchedOffBy = findKillSwitch(context);
  const opened = switchedOffBy === undefined ? await openTools(context, flags) : undefined;
  const stop = listenForSignals(context);
  const service = await serveMcp({
    input: context.stdin,
    output: context.stdout.stream as NodeJS.WriteStream,
    tools: opened?.tools ?? [],
    instructions: switchedOffBy === undefined ? MCP_INSTRUCTIONS : disabledInstructions(switchedOffBy),
    onNotice: (text) => context.stderr.write(`note: ${text}\n`),
  });
  if (context.stderr.isTerminal) {
    context.stderr.write('note: wf serves MCP on stdin and stdout, for an agent to start it; Ctrl-C ends it\n');
  }
  const signal = await Promise.race([service.closed, stop.received]);
  await within(END_WITHIN_MS, opened?.close());
  stop.dispose();
  return signal === undefined ? 0 : exitCodeOfSignal(signal);
}

async function openTools(context: CliContext, flags: McpFlags): Promise<OpenTools> {
  const { cwd, homeDirectory } = context;
  const root = stateRoot(context, flags);
  const { backend, ...ofEachRun } = flags;
  const secrets = secretValuesOf(context.env);
  const redactor = createRedactor(secrets);
  const store = createRunStore({ root, redactor });
  const place = { cwd, homeDirectory };
  const worktrees = lazyWorktrees(context.env);
  const hostRuns = new HostRuns({ store, ...place, secrets, limits: limitsOf(ofEachRun, context.env), worktrees });
  if (backend === 'host') {
    return { tools: hostTools({ runs: hostRuns, place, teach: true }), close: async () => {} };
  }
  const progress = new RunProgress();
  const background = await openBackground(
    context,
    { ...ofEachRun, ...(backend === undefined ? {} : { backend }) },
    progress,
  );
  const { runs } = background;
  return {
    tools: [
      launchTool({ runs }),
      ...lookAfterTools({ runs, progress, stateRoot: root, place }),
      ...hostTools({ runs: hostRuns, place, teach: false }),
    ],
    async close() {
      await runs.close();
      await background.backend.close();
    },
  };
}

/** Whatever answers agents of `wf run` answers those of runs in the background. */
async function openBackground(
  context: CliContext,
  flags: Omit<McpFlags, 'backend'> & Pick<Parameters<typeof decideLaunch>[1], 'backend'>,
  progress: RunProgress,
): Promise<{ readonly runs: BackgroundRuns; readonly backend: AgentBackend }> {
  const { cwd, homeDirectory } = context;
  const root = stateRoot(context, flags);
  const prices = await readPrices(flags.prices, undefined, cwd);
  const decided = decideLaunch(context, { ...flags, outputFormat: 'json', dialect: 'claude' }, root, {}, prices);
  const { choice, model, secrets, options, tools } = decided;
  const { permissionMode } = tools;
  const hooks = await loadRunHooks(context, flags, {
    backend: choice.name,
    cwd,
    permissionMode,
    onProblem: options.onNotice,
  });
  const backend = await createBackend(
    choice.name,
    { responses: flags.responses, model, agentCommand: choice.agentCommand, tools },
    { ...context, agentsCwd: cwd, hooks, note: options.onNotice },
  );
  const runs = createBackgroundRuns({
    ...options,
    ...(flags.reuse === true ? await sharedResults(root) : {}),
    store: createRunStore({
      root,
      redactor: createRedactor(secrets),
      layout: await transcriptLayout(flags.layout, context),
    }),
    backend,
    cwd,
    homeDirectory,
    sinksFor: ({ taskId }) => [progress.sinkOf(taskId)],
  });
  return { runs, backend };
}

async function within(limitMs: number, work: Promise<unknown> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

interface SignalWatch {
  readonly received: Promise<StopSignal>;
  dispose(): void;
}

/** The second signal ends the process at once. */
function listenForSignals(context: Pick<CliContext, 'onSignal' | 'exitNow'>): SignalWatch {
  const { promise: received, resolve } = Promise.withResolvers<StopSignal>();
  let first: StopSignal | undefined;
  const removals = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) =>
    context.onSignal(name, () => {
      if (first !== undefined) context.exitNow(exitCodeOfSignal(first));
      first = name;
      resolve(name);
    }),
  );
  return {
    received,
    dispose() {
      for (const remove of removals) remove();
    },
  };
}
