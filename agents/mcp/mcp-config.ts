import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** A program that is started and spoken to over its stdin and stdout. */
export interface StdioServer {
  readonly type: 'stdio';
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  readonly timeoutMs: number | undefined;
}

/** A server on the network. */
export interface HttpServer {
  readonly type: 'http';
  readonly name: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number | undefined;
}

export type McpServerConfig = StdioServer | HttpServer;

/** A server that was named and cannot be used. */
export interface LeftOutServer {
  readonly name: string;
  readonly reason: string;
}

export interface McpConfig {
  /** One of each name; of those that are given, the last. */
  readonly servers: readonly McpServerConfig[];
  readonly leftOut: readonly LeftOutServer[];
  /** What is wrong, one sentence a file or server. */
  readonly warnings: readonly string[];
}

/** Where servers are named. */
export interface McpSources {
  /** Folder whose `.mcp.json` counts, and from which relative paths go; absolute. */
  readonly cwd: string;
  /** More, each JSON or the path of a file that holds it; these go before `.mcp.json`. */
  readonly given?: readonly string[] | undefined;
  /** `.mcp.json` does not count. */
  readonly onlyGiven?: boolean | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

const FILE = '.mcp.json';
/** `${NAME}` and `${NAME:-default}`. */
const PLACEHOLDER = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;
const NAME = /^[\w.-]{1,64}$/;
const NOTHING: McpConfig = { servers: [], leftOut: [], warnings: [] };

/**
 * Reads the MCP servers that a project names in its `.mcp.json`, and those that were given: `{"mcpServers": {"<name>": …}}`,
 * where a server has `command`, `args`, `env`, or `url`, `headers`. Placeholders for environment variables are filled in.
 * Starts nothing; never rejects.
 */
export async function readMcpConfig({ cwd, given = [], onlyGiven }: McpSources, env: Env): Promise<McpConfig> {
  const found = await Promise.all([
    onlyGiven === true ? NOTHING : readFileOf(join(cwd, FILE), cwd, env, true),
    ...given.map((one) =>
      /^\s*\{/.test(one) ? readText(one, 'what was given', cwd, env) : readFileOf(resolve(cwd, one), cwd, env, false),
    ),
  ]);
  return {
    servers: [...new Map(found.flatMap(({ servers }) => servers).map((server) => [server.name, server])).values()],
    leftOut: found.flatMap(({ leftOut }) => leftOut),
    warnings: found.flatMap(({ warnings }) => warnings),
  };
}

async function readFileOf(path: string, cwd: string, env: Env, mayBeMissing: boolean): Promise<McpConfig> {
  try {
    return readText(await readFile(path, 'utf8'), path, cwd, env);
  } catch (error) {
    const missing = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    return missing && mayBeMissing
      ? NOTHING
      : { ...NOTHING, warnings: [`${path} cannot be read: ${messageOf(error)}`] };
  }
}

function readText(text: string, where: string, cwd: string, env: Env): McpConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ...NOTHING, warnings: [`${where} is no valid JSON (${messageOf(error)}), so no MCP server is used`] };
  }
  const listed = isObject(value) ? value['mcpServers'] : undefined;
  if (!isObject(listed))
    return { ...NOTHING, warnings: [`${where} has no object "mcpServers", so no MCP server is used`] };
  const servers: McpServerConfig[] = [];
  const leftOut: LeftOutServer[] = [];
  for (const [given, entry] of Object.entries(listed)) {
    try {
      servers.push(readServer(given, entry, cwd, env));
    } catch (error) {
      leftOut.push({ name: given.slice(0, 64), reason: messageOf(error) });
    }
  }
  const warnings = leftOut.map(
    ({ name, reason }) => `the MCP server ${JSON.stringify(name)} of ${where} is left out: ${reason}`,
  );
  return { servers, leftOut, warnings };
}

function readServer(name: string, entry: unknown, cwd: string, env: Env): McpServerConfig {
  if (!NAME.test(name)) throw new Error('its name may have letters, digits and . _ - only');
  if (!isObject(entry)) throw new Error('it is no object');
  const fill = (text: string): string => filled(text, env);
  const type = entry['type'] ?? (entry['url'] === undefined ? 'stdio' : 'http');
  const timeoutMs = readTimeout(entry['timeout']);
  switch (type) {
    case 'stdio':
      return {
        type: 'stdio',
        name,
        command: fill(textOf(entry['command'], 'command')),
        args: listOf(entry['args'], 'args').map(fill),
        env: textsOf(entry['env'], 'env', fill),
        cwd: entry['cwd'] === undefined ? cwd : resolve(cwd, fill(textOf(entry['cwd'], 'cwd'))),
        timeoutMs,
      };
    case 'http':
    case 'streamable-http': {
      const url = fill(textOf(entry['url'], 'url'));
      if (!URL.canParse(url) || !/^https?:/i.test(url))
        throw new Error(`its url ${JSON.stringify(url)} is no http address`);
      return { type: 'http', name, url: new URL(url), headers: textsOf(entry['headers'], 'headers', fill), timeoutMs };
    }
    default:
      throw new Error(`its type is ${JSON.stringify(type)}; wf speaks to servers of the types stdio and http`);
  }
}

function filled(text: string, env: Env): string {
  return text.replace(PLACEHOLDER, (_whole, name: string, instead: string | undefined) => {
    const value = env[name] || instead;
    if (value === undefined)
      throw new Error(`the environment variable ${name} is not set, and ${'$'}{${name}} has no default`);
    return value;
  });
}

function readTimeout(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value >= 100 && value <= 86_400_000) return value;
  throw new Error('its timeout must be a number of milliseconds from 100');
}

function textOf(value: unknown, member: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new Error(`its ${member} must be a text`);
}

function listOf(value: unknown, member: string): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new Error(`its ${member} must be a list of texts`);
}

function textsOf(value: unknown, member: string, fill: (text: string) => string): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const texts = isObject(value) && Object.values(value).every((item) => typeof item === 'string');
  if (!texts) throw new Error(`its ${member} must be an object of texts`);
  return Object.fromEntries(Object.entries(value as Record<string, string>).map(([key, text]) => [key, fill(text)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
