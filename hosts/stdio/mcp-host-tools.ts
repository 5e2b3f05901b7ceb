import type { McpTools, RemoteAgentTool } from '../../agents/tools/mcp-tools.ts';
import type { Permissions } from '../../agents/tools/permissions/permissions.ts';
import type { Redactor } from '../../runtime/ports.ts';
import type { HostTool, HostToolCall, HostToolResult } from './host-tool.ts';

export interface McpHostToolsOptions {
  readonly mcpTools: McpTools;
  /** What the main conversation may do at this moment. */
  readonly permissions: () => Permissions;
  /** Working directory of the session; absolute. */
  readonly cwd: string;
  readonly redactor: Redactor;
}

/** Gives the tools of MCP servers that the main conversation may use now; those that it could not are not offered. */
export function createMcpHostTools(options: McpHostToolsOptions): () => Promise<readonly HostTool[]> {
  return async () => {
    const permissions = options.permissions();
    const tools = await options.mcpTools.tools(permissions);
    return tools
      .filter((tool) => permissions.offers(tool))
      .map((tool) => ({
        name: tool.name,
        description: tool.description,
        inputSchema: tool.inputSchema,
        run: (input, call) => runTool(tool, input, call, options),
      }));
  };
}

async function runTool(
  tool: RemoteAgentTool,
  input: unknown,
  { toolUseId, turn }: HostToolCall,
  { permissions, cwd, redactor }: McpHostToolsOptions,
): Promise<HostToolResult> {
  const agent = { agentId: MAIN, label: 'main conversation', phase: null };
  const verdict = await permissions().check({ tool, input, toolUseId, cwd, agent }, turn.signal);
  if (!verdict.allow) {
    const told = typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : {};
    turn.countDenial({ tool_name: tool.name, tool_use_id: toolUseId, tool_input: told });
    return { text: verdict.message, isError: true };
  }
  const { text, isError } = await tool.run(verdict.input, { signal: turn.signal, session: { cuts: redactor } });
  return { text, isError };
}

/** Stands for the main conversation where an agent is named. */
const MAIN = 'main';
