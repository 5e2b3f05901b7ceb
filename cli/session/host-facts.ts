import { loadAgentTypes } from '../../agents/agent-types.ts';
import type { ConversationModel } from '../../agents/anthropic/conversation-model.ts';
import type { McpTools } from '../../agents/tools/mcp-tools.ts';
import { describeSavedWorkflows } from '../../hosts/saved-workflows/describe-saved-workflows.ts';
import type { SessionFacts } from '../../hosts/stdio/session-facts.ts';
import type { CliContext } from '../cli-context.ts';
import type { HostFlags } from '../program/host-program.ts';
import { listedTools } from './host-permissions.ts';

export interface HostFactsParts {
  readonly sessionId: string;
  readonly model: ConversationModel | undefined;
  readonly mcpTools: Pick<McpTools, 'servers'>;
  /** The kill switch, where one is set (H-5). */
  readonly switchedOffBy: string | undefined;
}

/** Gathers what a session says about itself. */
export async function hostFacts(
  { cwd, homeDirectory, env }: CliContext,
  flags: HostFlags,
  { sessionId, model, mcpTools, switchedOffBy }: HostFactsParts,
): Promise<SessionFacts> {
  const isOff = switchedOffBy !== undefined;
  const refused = listedTools(flags.disallowedTools);
  const [saved, agentTypes] = await Promise.all([
    isOff ? [] : describeSavedWorkflows({ cwd, homeDirectory }),
    loadAgentTypes({ cwd, home: homeDirectory }),
  ]);
  return {
    sessionId,
    cwd,
    workflows: saved.map(({ name, meta }) => ({ name, description: meta.description })),
    tools: isOff || model === undefined ? [] : ['Workflow', 'TaskStop'].filter((name) => !refused.includes(name)),
    mcpServers: () => mcpTools.servers(),
    agentTypes: [...agentTypes.keys()],
    modelId: model?.modelId,
    apiKeySource: model !== undefined && env['ANTHROPIC_API_KEY'] ? 'ANTHROPIC_API_KEY' : 'none',
  };
}

/** Why workflows may not run in a session; undefined when they may. */
export function hostRefusal(switchedOffBy: string | undefined, { disallowedTools }: HostFlags): string | undefined {
  if (switchedOffBy !== undefined) return `Workflows are switched off here by ${switchedOffBy}. [WORKFLOWS_DISABLED]`;
  return listedTools(disallowedTools).includes('Workflow')
    ? 'Workflows may not run here: --disallowedTools names Workflow.'
    : undefined;
}
