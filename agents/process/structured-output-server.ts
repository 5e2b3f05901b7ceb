import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OutputContract } from '../../runtime/ports.ts';
import { STRUCTURED_OUTPUT } from '../model-turns.ts';

/** Offers the tool StructuredOutput over MCP to agent CLIs that have no way of their own to take a schema. */
export interface StructuredOutputServer {
  /** Offers a tool of this contract; gives its address. */
  offer(contract: OutputContract): Promise<string>;
  /** Takes an address back. */
  withdraw(url: string): void;
  close(): Promise<void>;
}

const ACCEPTED = 'The result was handed in. The work is done: end here, without another word.';
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/**
 * Opens a server on the loopback interface, with the first tool that is offered.
 *
 * Contract: a call is only told what is wrong with it; which answer counts is decided from the stream of the CLI. So
 * whoever else finds an address gains nothing by calling it.
 */
export function createStructuredOutputServer(): StructuredOutputServer {
  const offers = new Map<string, OutputContract>();
  let server: Promise<Server> | undefined;
  return {
    async offer(contract) {
      server ??= listen((request, response) => answer(offers, request, response));
      const { port } = (await server).address() as AddressInfo;
      const place = `/${randomUUID()}`;
      offers.set(place, contract);
      return `http://127.0.0.1:${port}${place}`;
    },
    withdraw(url) {
      offers.delete(new URL(url).pathname);
    },
    async close() {
      const opened = await server;
      server = undefined;
      if (opened === undefined) return;
      opened.closeAllConnections();
      await new Promise((resolve) => opened.close(resolve));
    },
  };
}

function listen(onRequest: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<Server> {
  const server = createServer((request, response) => {
    onRequest(request, response).catch(() => response.destroy());
  });
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

/** Each request has a server of its own: there is no state between them. */
async function answer(
  offers: ReadonlyMap<string, OutputContract>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const contract = offers.get(request.url ?? '');
  if (contract === undefined || request.method !== 'POST') {
    response.writeHead(contract === undefined ? 404 : 405).end();
    return;
  }
  const body = await readBody(request);
  const [{ Server: McpServer }, { StreamableHTTPServerTransport }, { CallToolRequestSchema, ListToolsRequestSchema }] =
    await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js'),
      import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
  const mcp = new McpServer({ name: 'wf', version: '1' }, { capabilities: { tools: {} } });
  mcp.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [toolOf(contract)] }));
  mcp.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const verdict = contract.judge(JSON.stringify(params.arguments ?? {}));
    return { content: [{ type: 'text', text: verdict.ok ? ACCEPTED : verdict.message }], isError: !verdict.ok };
  });
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.on('close', () => void mcp.close());
  await mcp.connect(transport as Parameters<typeof mcp.connect>[0]);
  await transport.handleRequest(request, response, body);
}

function toolOf({ wireSchema }: OutputContract) {
  return {
    name: STRUCTURED_OUTPUT,
    description: 'Hands in the result of the work. Its input is the value that the script gets.',
    inputSchema: { ...wireSchema, type: 'object' as const },
  };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('the request is too large');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
