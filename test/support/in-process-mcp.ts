import { PassThrough } from 'node:stream';
import type { McpTool } from '../../hosts/mcp/mcp-tool.ts';
import { type McpService, serveMcp } from '../../hosts/mcp/serve-mcp.ts';

/** An answer to a request, as it stood on the line. */
export interface RpcAnswer {
  readonly id: number;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: {
    readonly isError?: boolean;
    readonly structuredContent?: Readonly<Record<string, unknown>>;
    readonly content?: readonly { readonly text: string }[];
  };
}

/** A client of a server in this process that writes what it likes. */
export interface InProcessMcp {
  readonly service: McpService;
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly notices: readonly string[];
  /** Every line that the server wrote. */
  readonly lines: readonly RpcAnswer[];
  /** Calls a tool with the JSON text of its arguments. */
  call(name: string, argumentsJson: string): Promise<RpcAnswer>;
  /** The answer to a request that was written by hand. */
  answer(id: number): Promise<RpcAnswer>;
}

export async function openInProcessMcp(tools: readonly McpTool[]): Promise<InProcessMcp> {
  const input = new PassThrough();
  const output = new PassThrough();
  const notices: string[] = [];
  const lines: RpcAnswer[] = [];
  const waiting = new Map<number, (answer: RpcAnswer) => void>();
  let rest = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const line = JSON.parse(part) as RpcAnswer;
      lines.push(line);
      waiting.get(line.id)?.(line);
    }
  });
  const service = await serveMcp({
    input,
    output,
    tools,
    instructions: 'test',
    onNotice: (text) => notices.push(text),
  });
  const answer = (id: number): Promise<RpcAnswer> => {
    const known = lines.find((line) => line.id === id);
    return known === undefined ? new Promise((resolve) => waiting.set(id, resolve)) : Promise.resolve(known);
  };
  let last = 1_000;
  const request = (method: string, paramsJson: string): Promise<RpcAnswer> => {
    const id = ++last;
    input.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${paramsJson}}\n`);
    return answer(id);
  };
  const hello = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  await request('initialize', JSON.stringify(hello));
  input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return {
    service,
    input,
    output,
    notices,
    lines,
    answer,
    call: (name, argumentsJson) => request('tools/call', `{"name":"${name}","arguments":${argumentsJson}}`),
  };
}
