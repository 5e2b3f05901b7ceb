import { createRunStore } from '../../cache/run-store.ts';
import { HostRuns } from '../../hosts/host-runs/host-runs.ts';
import { hostTools } from '../../hosts/mcp/host-tools.ts';
import { disabledInstructions, MCP_INSTRUCTIONS } from '../../hosts/mcp/mcp-instructions.ts';
import type { McpTool } from '../../hosts/mcp/mcp-tool.ts';
import { serveMcp } from '../../hosts/mcp/serve-mcp.ts';
import { findKillSwitch } from '../../hosts/saved-workflows/kill-switch.ts';
import { createRedactor, secretValuesOf } from '../../runtime/redact.ts';
import type { CliContext, StopSignal } from '../cli-context.ts';
import { exitCodeOfSignal } from '../exit-code.ts';
import type { McpFlags } from '../mcp-flags.ts';
import { limitsOf } from '../run-flags.ts';
import { stateRoot } from '../state-root.ts';

/**
 * `wf mcp`: serves until the client is gone or a signal comes. Source: spec H-10, H-11.
 *
 * Runs that the connected agent does are left as they are, to be taken up by the next server (H-16).
 */
export async function mcpCommand(context: CliContext, flags: McpFlags): Promise<number> {
  const switchedOffBy = findKillSwitch(context);
  const tools = switchedOffBy === undefined ? openTools(context, flags) : undefined;
  const stop = listenForSignals(context);
  const service = await serveMcp({
    input: context.stdin,
    output: context.stdout.stream as NodeJS.WriteStream,
    tools: tools ?? [],
    instructions: switchedOffBy === undefined ? MCP_INSTRUCTIONS : disabledInstructions(switchedOffBy),
    onNotice: (text) => context.stderr.write(`note: ${text}\n`),
  });
  if (context.stderr.isTerminal) {
    context.stderr.write(
      'wf serves MCP on stdin and stdout; it is meant to be started by an agent. End it with Ctrl-C.\n',
    );
  }
  const signal = await Promise.race([service.closed, stop.received]);
  stop.dispose();
  return signal === undefined ? 0 : exitCodeOfSignal(signal);
}

function openTools(context: CliContext, flags: McpFlags): readonly McpTool[] {
  const secrets = secretValuesOf(context.env);
  const { cwd, homeDirectory } = context;
  const { backend: _backend, ...ofEachRun } = flags;
  const runs = new HostRuns({
    store: createRunStore({ root: stateRoot(context, flags), redactor: createRedactor(secrets) }),
    cwd,
    homeDirectory,
    secrets,
    limits: limitsOf(ofEachRun, context.env),
  });
  return hostTools(runs, { cwd, homeDirectory });
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
