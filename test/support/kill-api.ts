import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that reached the stand-in. */
export interface AskedOnce {
  /** Number of the launch that asked, from 1. */
  readonly launch: number;
  readonly prompt: string;
}

/** A stand-in for the Messages API that counts, and that gives no two answers alike. */
export interface KillApi {
  /** By the serial number of the answer. */
  readonly asked: readonly AskedOnce[];
  /**
   * Gives the address for the next launch. Each has its own, since what a killed process sent may be read after the next one
   * was started. `onRequest` hears the number of each of its requests, from 1.
   */
  beginLaunch(onRequest: (count: number) => void): string;
  close(): Promise<void>;
}

export interface KillApiOptions {
  /** Milliseconds until an answer. */
  readonly latencyMs: () => number;
  /** Characters that each answer is filled up to. */
  readonly answerLength: number;
}

/** How much of its prompt an answer repeats. */
export const ECHO_LENGTH = 40;

/** The answer with a serial number: `#7 ` and the beginning of its prompt. */
export function answerTo(serial: number, prompt: string, length: number): string {
  const text = `#${serial} ${prompt.slice(0, ECHO_LENGTH)}`;
  return length > text.length ? `${text} ${'.'.repeat(length - text.length)}` : text;
}

export async function startKillApi(options: KillApiOptions): Promise<KillApi> {
  const asked: AskedOnce[] = [];
  const launches: { count: number; readonly onRequest: (count: number) => void }[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const prompt = promptOf(body);
      const launch = Number(/^\/launch-(\d+)\//.exec(request.url ?? '')?.[1]);
      const serial = asked.push({ launch, prompt }) - 1;
      const asking = launches[launch - 1];
      if (asking !== undefined) {
        asking.count += 1;
        asking.onRequest(asking.count);
      }
      const answer = answerTo(serial, prompt, options.answerLength);
      setTimeout(() => stream(response, answer), options.latencyMs());
    }, ignore);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    beginLaunch(onRequest) {
      const launch = launches.push({ count: 0, onRequest });
      return `http://127.0.0.1:${port}/launch-${launch}`;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A client that is killed leaves half a request behind. */
function ignore(): void {}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** The script's prompt is the last text block of the first message. */
function promptOf(body: unknown): string {
  const { content } = (body as { messages: { content: string | { text?: string }[] }[] }).messages[0] ?? {
    content: '',
  };
  return typeof content === 'string' ? content : (content.at(-1)?.text ?? '');
}

function stream(response: ServerResponse, text: string): void {
  if (response.destroyed) return;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const say = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  const usage = { input_tokens: 3, output_tokens: 2 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'stand-in', content: [], usage };
  say('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } });
  say('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
  say('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
  say('content_block_stop', { index: 0 });
  say('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage });
  say('message_stop', {});
  response.end();
}
