/**
 * An MCP server of the tests, on the real SDK: over stdio, or over HTTP with `--http` (it prints its address).
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const log = process.env.SERVER_LOG;
if (log !== undefined) appendFileSync(log, `${process.pid}\n`);
if (process.argv.includes('--broken')) {
  process.stderr.write('no licence was found\n');
  process.exit(3);
}
if (process.argv.includes('--stubborn')) for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {});
if (process.argv.includes('--with-child')) {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  if (log !== undefined) appendFileSync(log, `${child.pid}\n`);
}

function makeServer() {
  const server = new McpServer({ name: 'tool-server', version: '1.0.0' });
  server.registerTool('echo', { description: 'Gives a text back.', inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text: `echo: ${text}` }],
  }));
  server.registerTool('secret', { description: 'Shows its environment.' }, () => ({
    content: [{ type: 'text', text: JSON.stringify([process.env.TOKEN, process.env.HIDDEN ?? null]) }],
  }));
  server.registerTool('flood', { description: 'Says a lot.' }, () => ({
    content: [{ type: 'text', text: 'x'.repeat(200_000) }],
  }));
  server.registerTool('fail', { description: 'Fails.' }, () => ({
    isError: true,
    content: [{ type: 'text', text: 'it did not work' }],
  }));
  server.registerTool('wait', { description: 'Never answers.' }, () => new Promise(() => {}));
  server.registerTool('crash', { description: 'Ends the server.' }, () => process.exit(1));
  return server;
}

if (process.argv.includes('--http')) {
  const http = createServer(async (request, response) => {
    if (request.headers.authorization !== 'Bearer of the test') return response.writeHead(401).end();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await makeServer().connect(transport);
    await transport.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
} else {
  await makeServer().connect(new StdioServerTransport());
}
