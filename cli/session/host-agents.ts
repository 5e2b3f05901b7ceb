import type { Hooks } from '../../agents/hooks/hooks.ts';
import type { McpTools } from '../../agents/tools/mcp-tools.ts';
import type { PermissionMode } from '../../agents/tools/permissions/permission-modes.ts';
import { type AskPermission, createPermissions, type Permissions } from '../../agents/tools/permissions/permissions.ts';
import type { RunsParts } from '../../hosts/stdio/open-session.ts';
import type { PermissionPrompts } from '../../hosts/stdio/permission-prompts.ts';
import type { SessionSettings } from '../../hosts/stdio/session-settings.ts';
import { overhearAgents } from '../../hosts/stdio/subagent-text.ts';
import type { AgentBackend } from '../../runtime/ports.ts';
import type { CliContext } from '../cli-context.ts';
import { createBackend } from '../launch/create-backend.ts';
import type { LaunchDecisions } from '../launch/decide-launch.ts';
import { createModeBackend } from '../launch/mode-backend.ts';
import type { HostFlags } from '../program/host-program.ts';
import { agentMode, canAskClient } from './host-permissions.ts';

/** The agents of a session's workflows. */
export interface HostAgents {
  readonly backend: AgentBackend;
  /** Names the session: who is asked where a tool needs a yes, and who hears what agents say. Before that nobody is. */
  joinSession(parts: Pick<RunsParts, 'prompts' | 'showText'>): void;
  /** What the main conversation may do with tools of MCP servers, in the mode of the moment. */
  mainPermissions(prompts: PermissionPrompts): Permissions;
}

export interface HostAgentsParts {
  readonly decisions: LaunchDecisions;
  readonly hooks: Hooks | undefined;
  readonly settings: SessionSettings;
  /** Shared by the agents of every mode. */
  readonly mcpTools: McpTools;
}

/** Makes the backend of a session, whose agents follow its permission mode and ask its client. */
export async function openHostAgents(
  context: CliContext,
  flags: HostFlags,
  { decisions, hooks, settings, mcpTools }: HostAgentsParts,
): Promise<HostAgents> {
  const { choice, model, tools } = decisions;
  let session: Pick<RunsParts, 'prompts' | 'showText'> | undefined;
  const note = (text: string): void => context.stderr.write(`note: ${text}\n`);
  const ask: AskPermission = async (question, signal) => {
    if (session === undefined || settings.permissionMode === 'dontAsk') return { allow: false, message: NOBODY_ASKS };
    return session.prompts.ask(question, signal);
  };
  const make = (permissionMode: PermissionMode): Promise<AgentBackend> =>
    createBackend(
      choice.name,
      { responses: flags.responses, model, agentCommand: choice.agentCommand, tools: { ...tools, permissionMode } },
      { ...context, agentsCwd: context.cwd, hooks, mcpTools, note, ...(canAskClient(flags) ? { ask } : {}) },
    );
  const current = (): PermissionMode => agentMode(settings.permissionMode);
  const mode = current();
  const backend = createModeBackend({ mode, backend: await make(mode) }, current, make);
  return {
    backend:
      flags.forwardSubagentText === true ? overhearAgents(backend, (message) => session?.showText(message)) : backend,
    joinSession(parts) {
      session = parts;
    },
    mainPermissions(prompts) {
      const isAsked = canAskClient(flags) && settings.permissionMode !== 'dontAsk';
      return createPermissions({
        mode: current(),
        allow: tools.allowTools,
        deny: tools.denyTools,
        ask: isAsked
          ? ({ agentId: _main, label: _none, ...question }, signal) => prompts.ask(question, signal)
          : undefined,
      });
    },
  };
}

const NOBODY_ASKS = 'It was not allowed beforehand, and the permission mode dontAsk asks nobody.';
