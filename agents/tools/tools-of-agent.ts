import type { AgentReporter, AgentRequest } from '../../runtime/ports.ts';
import { untilAborted } from '../abort.ts';
import type { AgentType } from '../agent-types.ts';
import type { AgentTool } from './agent-tool.ts';
import { chooseTools } from './choose-tools.ts';
import { MCP_PREFIX, type McpTools } from './mcp-tools.ts';
import type { Permissions } from './permissions/permissions.ts';

export interface ToolSources {
  /** @defaultValue Read, Glob, Grep, Edit, Write and Bash */
  readonly tools?: readonly AgentTool[] | undefined;
  /** Tools of MCP servers, which are started for the first agent that may use one. @defaultValue none */
  readonly mcpTools?: McpTools | undefined;
}

export interface ToolUser {
  readonly request: AgentRequest;
  readonly type: AgentType | undefined;
  readonly permissions: Permissions;
  readonly signal: AbortSignal;
  readonly report: AgentReporter;
}

/** Gives the tools that an agent has by its call and its type. What goes wrong with a server is noted in its transcript. */
export async function toolsOfAgent({ tools, mcpTools }: ToolSources, user: ToolUser): Promise<readonly AgentTool[]> {
  const { request, type, permissions, signal, report } = user;
  const own = tools ?? (await import('./default-tools.ts')).DEFAULT_TOOLS;
  if (mcpTools === undefined || !mayNameMcpTool(request, type)) return chooseTools(own, request.options, type);
  const more = await untilAborted(mcpTools.tools(permissions), signal);
  for (const text of mcpTools.takeWarnings()) report.transcript?.({ type: 'note', text });
  report.alive();
  return chooseTools([...own, ...more], request.options, type);
}

function mayNameMcpTool({ options }: AgentRequest, type: AgentType | undefined): boolean {
  return [options.tools, type?.tools].every(
    (names) => names === undefined || names.some((name) => name.startsWith(MCP_PREFIX)),
  );
}
