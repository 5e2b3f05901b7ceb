import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { GroupGuardian } from '../process/group-guardian.ts';
import type { McpServerConfig } from './mcp-config.ts';
import { ProcessTransport } from './process-transport.ts';

/** A tool as its server describes it. */
export interface RemoteTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** What a call of a remote tool came to. */
export interface RemoteResult {
  readonly text: string;
  readonly isError: boolean;
}

/** The line to one MCP server. */
export interface McpConnection {
  readonly tools: readonly RemoteTool[];
  /** Rejects when the server is gone, does not answer in time, or the signal aborts. */
  call(name: string, input: unknown, signal: AbortSignal): Promise<RemoteResult>;
  /** Ends it, and with a server that is a process its whole group, within 2 s. Idempotent. */
  close(): Promise<void>;
}

/** An answer goes to a model and not to a program, so nothing rests on its form; and a stranger's schema is not run. */
const TRUSTING: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};
const CONNECT_WITHIN_MS = 30_000;
const CALL_WITHIN_MS = 300_000;
const MOST_TOOLS = 512;
const MOST_PAGES = 50;

/**
 * Connects to a server and asks for its tools.
 *
 * @param env what a server that is a process gets beside its own `env`
 * @param guardian ends such a server when this process is killed
 * @throws Error that says in one sentence what went wrong; nothing is left behind then
 */
export async function connectToServer(
  server: McpServerConfig,
  env: Readonly<Record<string, string>>,
  version: string,
  guardian: GroupGuardian,
): Promise<McpConnection> {
  const transport = transportOf(server, env, guardian);
  const client = new Client({ name: 'wf', version }, { capabilities: {}, jsonSchemaValidator: TRUSTING });
  const timeout = server.timeoutMs ?? CALL_WITHIN_MS;
  try {
    await client.connect(transport, { timeout: Math.min(timeout, CONNECT_WITHIN_MS) });
    const tools = await listTools(client, Math.min(timeout, CONNECT_WITHIN_MS));
    return {
      tools,
      async call(name, input, signal) {
        const params = { name, arguments: (input ?? {}) as Record<string, unknown> };
        const options = { signal, timeout, maxTotalTimeout: timeout, resetTimeoutOnProgress: false };
        return resultOf((await client.callTool(params, undefined, options)) as CalledTool);
      },
      close: () => end(client, transport),
    };
  } catch (error) {
    await end(client, transport);
    throw new Error(reasonOf(error, transport), { cause: error });
  }
}

/** The SDK's types leave out that a member may be undefined; its transport fits all the same. */
function transportOf(
  server: McpServerConfig,
  env: Readonly<Record<string, string>>,
  guardian: GroupGuardian,
): Transport {
  if (server.type === 'stdio') return new ProcessTransport(server, env, guardian);
  return new StreamableHTTPClientTransport(server.url, {
    requestInit: { headers: { ...server.headers } },
  }) as Transport;
}

async function listTools(client: Client, timeout: number): Promise<readonly RemoteTool[]> {
  const tools: RemoteTool[] = [];
  if (client.getServerCapabilities()?.tools === undefined) return tools;
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES && tools.length < MOST_TOOLS; page += 1) {
    const listed = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout });
    for (const { name, description, inputSchema } of listed.tools) {
      tools.push({ name, description: description ?? '', inputSchema });
    }
    cursor = listed.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, MOST_TOOLS);
}

async function end(client: Client, transport: Transport): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => {});
  await client.close().catch(() => {});
  // The client forgets a transport that never got as far as a session.
  await transport.close().catch(() => {});
}

function reasonOf(error: unknown, transport: Transport): string {
  const message = error instanceof Error ? error.message : String(error);
  const said = transport instanceof ProcessTransport ? transport.stderr : '';
  const last = said.split('\n').at(-1) ?? '';
  return last === '' ? message : `${message}; the last it said is: ${last}`;
}

interface CalledTool {
  readonly content?: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly resource?: { readonly uri?: string; readonly text?: string };
}

function resultOf({ content = [], structuredContent, isError = false }: CalledTool): RemoteResult {
  const text = content.map(textOfBlock).join('\n');
  const shown = text === '' && structuredContent !== undefined ? JSON.stringify(structuredContent) : text;
  return { text: shown, isError };
}

function textOfBlock({ type, text, data, mimeType, uri, resource }: ContentBlock): string {
  switch (type) {
    case 'text':
      return text ?? '';
    case 'image':
    case 'audio':
      return `[${type}, ${mimeType ?? 'of an unknown form'}, ${data?.length ?? 0} characters of base64: not shown]`;
    case 'resource_link':
      return `[resource ${uri ?? ''}]`;
    case 'resource':
      return resource?.text ?? `[resource ${resource?.uri ?? ''}: not a text]`;
    default:
      return `[content of the type ${type}: not shown]`;
  }
}
