import { type Cuts, PLAIN_CUTS } from '../cuts.ts';
import type { McpServerConfig } from '../mcp/mcp-config.ts';
import type { McpConnection, RemoteTool } from '../mcp/mcp-connection.ts';
import type { AgentTool } from './agent-tool.ts';
import type { Permissions } from './permissions.ts';

export interface McpToolsOptions {
  /** Folder whose `.mcp.json` names the servers; absolute. */
  readonly cwd: string;
  /** Environment for placeholders; of it the servers get what a program needs to run, and no secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Version that servers are told. */
  readonly version: string;
  /** Told once of each server that cannot be used, in a sentence. */
  readonly onWarning?: (text: string) => void;
  /** What warnings are shortened by. @defaultValue no secret is known */
  readonly cuts?: Cuts;
}

/** The tools of a project's MCP servers. Source: spec A-25. */
export interface McpTools {
  /**
   * Starts the servers when it is first called, those of which some tool could be allowed. Never rejects: a server that fails
   * is a warning, and has no tools.
   */
  tools(permissions: Pick<Permissions, 'offersServer'>): Promise<readonly AgentTool[]>;
  /** The warnings that nobody has taken yet. */
  takeWarnings(): readonly string[];
  /** Ends the servers, within 2 s. Idempotent; `tools` gives none from then on. */
  close(): Promise<void>;
}

/** Beginning of the names of all tools of MCP servers. */
export const MCP_PREFIX = 'mcp__';
/** What a program needs to be found and to run. */
const INHERITED = [
  'HOME',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'USER',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'SYSTEMROOT',
  'TEMP',
  'USERPROFILE',
  'APPDATA',
];
/** What the Messages API takes for the name of a tool. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const MAX_RESULT_CHARACTERS = 60_000;
/** Characters of a warning that are a server's own words. */
const LONGEST_REASON = 600;
const MAX_DESCRIPTION_CHARACTERS = 4_000;
const MAX_SCHEMA_CHARACTERS = 64 * 1024;

/** Makes the tools of the servers in `.mcp.json`; nothing is read or started before they are asked for. */
export function createMcpTools(options: McpToolsOptions): McpTools {
  const connections: McpConnection[] = [];
  let warnings: string[] = [];
  const warn = (text: string): void => {
    warnings.push(text);
    options.onWarning?.(text);
  };
  let opening: Promise<readonly AgentTool[]> | undefined;
  let closing: Promise<void> | undefined;
  const open = async (permissions: Pick<Permissions, 'offersServer'>): Promise<readonly AgentTool[]> => {
    const { readMcpConfig } = await import('../mcp/mcp-config.ts');
    const config = await readMcpConfig(options.cwd, options.env);
    for (const warning of config.warnings) warn(warning);
    const wanted = config.servers.filter(({ name }) => permissions.offersServer(prefixOf(name)));
    const connected = await Promise.all(wanted.map((server) => connect(server, options, warn)));
    const found = connected.filter((one) => one !== undefined);
    connections.push(...found.map(({ connection }) => connection));
    return withoutTwins(
      found.flatMap(({ server, connection }) =>
        connection.tools.flatMap((tool) => asAgentTool(server, tool, connection, warn)),
      ),
      warn,
    );
  };
  return {
    tools(permissions) {
      if (closing !== undefined) return Promise.resolve([]);
      opening ??= open(permissions);
      return opening;
    },
    takeWarnings() {
      const taken = warnings;
      warnings = [];
      return taken;
    },
    close() {
      closing ??= (async () => {
        await opening;
        await Promise.all(connections.map((connection) => connection.close()));
      })();
      return closing;
    },
  };
}

/** Beginning of the names of a server's tools. */
function prefixOf(server: string): string {
  return `${MCP_PREFIX}${server.replace(/[^\w-]/g, '_')}__`;
}

async function connect(
  server: McpServerConfig,
  { env, version, cuts = PLAIN_CUTS }: McpToolsOptions,
  warn: (text: string) => void,
): Promise<{ readonly server: string; readonly connection: McpConnection } | undefined> {
  try {
    // The SDK is large, and most runs have no server.
    const { connectToServer } = await import('../mcp/mcp-connection.ts');
    return { server: server.name, connection: await connectToServer(server, inherited(env), version) };
  } catch (error) {
    const reason = cuts.slice(error instanceof Error ? error.message : String(error), 0, LONGEST_REASON);
    warn(`the MCP server ${server.name} of .mcp.json cannot be used, and agents go without its tools: ${reason}`);
    return undefined;
  }
}

function inherited(env: McpToolsOptions['env']): Readonly<Record<string, string>> {
  const pairs = INHERITED.map((name) => [name, env[name]] as const);
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

function asAgentTool(
  server: string,
  tool: RemoteTool,
  connection: McpConnection,
  warn: (text: string) => void,
): readonly AgentTool[] {
  const name = prefixOf(server) + tool.name.replace(/[^\w-]/g, '_');
  if (!TOOL_NAME.test(name) || JSON.stringify(tool.inputSchema).length > MAX_SCHEMA_CHARACTERS) {
    warn(`a tool of the MCP server ${server} is left out: its name or its input schema is too long`);
    return [];
  }
  return [
    {
      name,
      description: tool.description.slice(0, MAX_DESCRIPTION_CHARACTERS).toWellFormed(),
      access: 'external',
      inputSchema: tool.inputSchema,
      async run(input, { signal, session }) {
        const { text, isError } = await connection.call(tool.name, input, signal);
        return { text: bounded(text, session.cuts), isError, summary: `${tool.name} of ${server}` };
      },
    },
  ];
}

function bounded(text: string, cuts: Cuts): string {
  if (text.length <= MAX_RESULT_CHARACTERS) return text;
  const shown = cuts.slice(text, 0, MAX_RESULT_CHARACTERS);
  return `${shown.toWellFormed()}\n[cut: ${text.length - shown.length} more characters. Ask for less.]`;
}

function withoutTwins(tools: readonly AgentTool[], warn: (text: string) => void): readonly AgentTool[] {
  const byName = new Map<string, AgentTool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) warn(`two tools of MCP servers are named ${tool.name}; the first one is used`);
    else byName.set(tool.name, tool);
  }
  return [...byName.values()];
}
