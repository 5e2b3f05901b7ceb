import type { Readable, Writable } from 'node:stream';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { isNestedTooDeeply, MAX_JSON_LEVELS } from '../../protocol/json-nesting.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { WF_VERSION } from '../../runtime/version.ts';
import type { McpTool, ToolCallContext } from './mcp-tool.ts';
import { toolFailure } from './mcp-tool.ts';
import { StdioTransport } from './stdio-transport.ts';

export interface ServeMcpOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly tools: readonly McpTool[];
  /** Shown to the client's model. */
  readonly instructions: string;
  /** What a person should know: a broken line, a client that went away. */
  readonly onNotice?: (text: string) => void;
}

/** A server that is listening. */
export interface McpService {
  /** Resolves when the client is gone: its stream ended, or nobody reads ours. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Serves tools to one client over two streams. Source: spec H-10. */
export async function serveMcp({ input, output, tools, instructions, onNotice }: ServeMcpOptions): Promise<McpService> {
  const server = new Server(
    { name: 'wf', title: 'wf workflows', version: WF_VERSION },
    { capabilities: { tools: {} }, instructions },
  );
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(listed) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = byName.get(params.name);
    if (tool === undefined) {
      const known = [...byName.keys()].join(', ');
      throw new McpError(ErrorCode.InvalidParams, `There is no tool ${JSON.stringify(params.name)}. Tools: ${known}.`);
    }
    const { progressToken } = params._meta ?? {};
    let last = -1;
    const context: ToolCallContext = {
      signal: extra.signal,
      progress(progress, total, message) {
        if (progressToken === undefined || progress <= last || extra.signal.aborted) return;
        last = progress;
        const told = { progressToken, progress, message, ...(total === undefined ? {} : { total }) };
        void extra.sendNotification({ method: 'notifications/progress', params: told }).catch(() => {});
      },
    };
    try {
      refuseDeepArguments(tool, params.arguments);
      const { structured, text } = await tool.call(params.arguments, context);
      return {
        content: [{ type: 'text' as const, text: text ?? JSON.stringify(structured) }],
        structuredContent: { ...structured },
      };
    } catch (error) {
      return toolFailure(error);
    }
  });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  server.onclose = close;
  server.onerror = (error) => onNotice?.(error.message);
  await server.connect(new StdioTransport(input, output));
  return { closed, close: () => server.close() };
}

function refuseDeepArguments({ name }: McpTool, given: unknown): void {
  if (!isNestedTooDeeply(given)) return;
  const most = MAX_JSON_LEVELS.toLocaleString('en-US');
  throw new WorkflowError(
    'USAGE_INVALID',
    `${name}: its arguments are nested more than ${most} levels deep, so nothing was done. Give flatter JSON, or the deep part as a text.`,
  );
}

function listed({ name, title, description, inputSchema, outputSchema, annotations }: McpTool) {
  return { name, title, description, inputSchema, outputSchema, annotations: { ...annotations } };
}
