import { type Cuts, PLAIN_CUTS } from '../cuts.ts';
import type { McpServerConfig } from '../mcp/mcp-config.ts';
import type { McpConnection, RemoteTool } from '../mcp/mcp-connection.ts';
import type { GroupGuardian } from '../process/group-guardian.ts';
import type { AgentTool, ToolContext, ToolOutput } from './agent-tool.ts';
import type { Permissions } from './permissions/permissions.ts';

export interface McpToolsOptions {
  /** Folder whose `.mcp.json` names the servers; absolute. */
  readonly cwd: string;
  /** More servers, which go before those of `.mcp.json`: each JSON like it, or the path of a file. @defaultValue none */
  readonly given?: readonly string[];
  /** Only the given ones count. @defaultValue false */
  readonly onlyGiven?: boolean;
  /** Environment for placeholders; of it the servers get what a program needs to run, and no secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Version that servers are told. */
  readonly version: string;
  /** Told once of each server that cannot be used, in a sentence. */
  readonly onWarning?: (text: string) => void;
  /** What warnings are shortened by. @defaultValue no secret is known */
  readonly cuts?: Cuts;
}

export interface RemoteToolContext extends Pick<ToolContext, 'signal'> {
  /** What long results are shortened by. */
  readonly session: Pick<ToolContext['session'], 'cuts'>;
}

/** A tool that needs nothing of an agent's own. */
export interface RemoteAgentTool extends AgentTool {
  run(input: unknown, context: RemoteToolContext): Promise<ToolOutput>;
}

/** How it stands with one server. `pending`: nothing has asked for it yet, or it is being started. */
export interface McpServerState {
  readonly name: string;
  readonly status: 'pending' | 'connected' | 'failed';
  /** Why it failed, in a sentence. */
  readonly error?: string;
}

/** The tools of a project's MCP servers. Source: spec A-25. */
export interface McpTools {
  /**
   * Starts the servers of which some tool could be allowed, each when it is first wanted. Never rejects: a server that fails
   * is a warning, and has no tools.
   */
  tools(permissions: Pick<Permissions, 'offersServer'>): Promise<readonly RemoteAgentTool[]>;
  /** Reads which servers are named, and starts none. Never rejects. */
  load(): Promise<void>;
  /** How it stands with each server that was named when they were read. */
  servers(): readonly McpServerState[];
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

/** Makes the tools of MCP servers; nothing is read or started before they are asked for. */
export function createMcpTools(options: McpToolsOptions): McpTools {
  const servers = new ServerSet(options);
  return {
    tools: (permissions) => servers.tools(permissions),
    load: () => servers.load(),
    servers: () => servers.states(),
    takeWarnings: () => servers.takeWarnings(),
    close: () => servers.close(),
  };
}

class ServerSet {
  readonly #options: McpToolsOptions;
  readonly #states = new Map<string, McpServerState>();
  /** Tools of each server that was started, or is being started. */
  readonly #opened = new Map<string, Promise<readonly RemoteAgentTool[]>>();
  readonly #connections: McpConnection[] = [];
  readonly #told = new Set<string>();
  /** Ends the servers that are processes when this one is killed. */
  #guardian: GroupGuardian | undefined;
  #warnings: string[] = [];
  #reading: Promise<readonly McpServerConfig[]> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: McpToolsOptions) {
    this.#options = options;
  }

  async tools(permissions: Pick<Permissions, 'offersServer'>): Promise<readonly RemoteAgentTool[]> {
    const servers = await this.#read();
    if (this.#closing !== undefined) return [];
    const wanted = servers.filter(({ name }) => permissions.offersServer(mcpToolPrefix(name)));
    const lists = await Promise.all(wanted.map((server) => this.#open(server)));
    return withoutTwins(lists.flat(), this.#warn);
  }

  async load(): Promise<void> {
    await this.#read();
  }

  states(): readonly McpServerState[] {
    return [...this.#states.values()];
  }

  takeWarnings(): readonly string[] {
    const taken = this.#warnings;
    this.#warnings = [];
    return taken;
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.all(this.#opened.values());
      await Promise.all(this.#connections.map((connection) => connection.close()));
      this.#guardian?.close();
    })();
    return this.#closing;
  }

  readonly #warn = (text: string): void => {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#warnings.push(text);
    this.#options.onWarning?.(text);
  };

  #read(): Promise<readonly McpServerConfig[]> {
    this.#reading ??= (async () => {
      const { readMcpConfig } = await import('../mcp/mcp-config.ts');
      const config = await readMcpConfig(this.#options, this.#options.env);
      for (const warning of config.warnings) this.#warn(warning);
      for (const { name, reason: error } of config.leftOut) this.#states.set(name, { name, status: 'failed', error });
      for (const { name } of config.servers) this.#states.set(name, { name, status: 'pending' });
      return config.servers;
    })();
    return this.#reading;
  }

  #open(server: McpServerConfig): Promise<readonly RemoteAgentTool[]> {
    const known = this.#opened.get(server.name);
    if (known !== undefined) return known;
    const opening = this.#connect(server);
    this.#opened.set(server.name, opening);
    return opening;
  }

  async #connect(server: McpServerConfig): Promise<readonly RemoteAgentTool[]> {
    const { name } = server;
    const { env, version, cuts = PLAIN_CUTS } = this.#options;
    try {
      // The SDK is large, and most runs have no server.
      const { connectToServer } = await import('../mcp/mcp-connection.ts');
      const { startGuardian } = await import('../process/group-guardian.ts');
      this.#guardian ??= startGuardian(env['PATH']);
      const connection = await connectToServer(server, inherited(env), version, this.#guardian);
      this.#connections.push(connection);
      this.#states.set(name, { name, status: 'connected' });
      return connection.tools.flatMap((tool) => asAgentTool(name, tool, connection, this.#warn));
    } catch (error) {
      const reason = cuts.slice(error instanceof Error ? error.message : String(error), 0, LONGEST_REASON);
      this.#states.set(name, { name, status: 'failed', error: reason });
      this.#warn(`the MCP server ${name} cannot be used, and agents go without its tools: ${reason}`);
      return [];
    }
  }
}

/** Beginning of the names of a server's tools. */
export function mcpToolPrefix(server: string): string {
  return `${MCP_PREFIX}${server.replace(/[^\w-]/g, '_')}__`;
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
): readonly RemoteAgentTool[] {
  const name = mcpToolPrefix(server) + tool.name.replace(/[^\w-]/g, '_');
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

function withoutTwins(tools: readonly RemoteAgentTool[], warn: (text: string) => void): readonly RemoteAgentTool[] {
  const byName = new Map<string, RemoteAgentTool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) warn(`two tools of MCP servers are named ${tool.name}; the first one is used`);
    else byName.set(tool.name, tool);
  }
  return [...byName.values()];
}
