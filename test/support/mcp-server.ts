import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const WF = join(ROOT, 'bin/wf.mjs');

/** What a tool answered. */
export interface Called {
  readonly structured: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

/** A state of a run as the `wf_` tools give it. */
export interface HostState {
  readonly runId: string;
  readonly status: string;
  readonly pending: readonly PendingStep[];
  readonly logs: readonly string[];
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly rejected?: { readonly stepId: string; readonly errors: readonly string[]; readonly usedUp: boolean };
}

export interface PendingStep {
  readonly stepId: string;
  readonly agentKey: string;
  readonly name: string;
  readonly phase: string | null;
  readonly instruction: string;
  readonly outputSchema?: Record<string, unknown>;
  readonly attempt: number;
  readonly contract: string;
  readonly cwd?: string;
}

/** The real client of the SDK, and the real `wf mcp` at the other end. */
export interface Connected {
  readonly client: Client;
  readonly pid: number;
  call(name: string, args?: Record<string, unknown>, options?: Parameters<Client['callTool']>[2]): Promise<Called>;
  /** Calls a `wf_` tool; throws its text when it refuses. */
  host(name: string, args: Record<string, unknown>): Promise<HostState>;
  close(): Promise<void>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** A state directory and a working directory of its own, and the servers started on it. */
export interface McpPlace {
  readonly root: string;
  readonly state: string;
  readonly work: string;
  connect(options?: { readonly args?: readonly string[]; readonly env?: Record<string, string> }): Promise<Connected>;
  remove(): Promise<void>;
}

export function makeMcpPlace(): McpPlace {
  const root = mkdtempSync(join(tmpdir(), 'wf-mcp-'));
  const work = join(root, 'work');
  const state = join(root, 'state');
  mkdirSync(work);
  mkdirSync(join(root, 'home'));
  const open: Connected[] = [];
  return {
    root,
    state,
    work,
    async connect({ args = [], env = {} } = {}) {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [WF, 'mcp', '--state-dir', state, ...args],
        env: { PATH: process.env['PATH'] ?? '', HOME: join(root, 'home'), ...env },
        cwd: work,
        stderr: 'pipe',
      });
      const client = new Client({ name: 'wf-test', version: '1.0.0' });
      await client.connect(transport);
      const connected = connectedOf(client, transport);
      open.push(connected);
      return connected;
    },
    async remove() {
      await Promise.all(open.map((one) => one.kill()));
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function connectedOf(client: Client, transport: StdioClientTransport): Connected {
  const { pid } = transport;
  if (pid === null) throw new Error('the server did not start');
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  const call: Connected['call'] = async (name, args = {}, options = {}) => {
    const answer = await client.callTool({ name, arguments: args }, undefined, options);
    const [block] = answer.content as readonly { readonly text?: string }[];
    return {
      structured: (answer.structuredContent ?? {}) as Called['structured'],
      text: block?.text ?? '',
      isError: answer.isError === true,
    };
  };
  return {
    client,
    pid,
    call,
    async host(name, args) {
      const { structured, text, isError } = await call(name, args);
      if (isError) throw new Error(text);
      return structured as unknown as HostState;
    },
    close: () => client.close(),
    async kill() {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        return; // it is gone
      }
      await closed;
    },
  };
}

/** Processes, by pid, whose parent is `pid` or that descend from it. */
export function descendantsOf(pid: number): readonly number[] {
  const children = (parent: number): number[] => {
    const path = `/proc/${parent}/task/${parent}/children`;
    if (!existsSync(path)) return [];
    return readFileSync(path, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number);
  };
  const all: number[] = [];
  for (let next = children(pid); next.length > 0; next = next.flatMap(children)) all.push(...next);
  return all;
}

/** Whether a process does anything; one that waits for its parent to notice its end does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** A script with a valid head. */
export function script(body: string): string {
  return `export const meta = { name: 'mcp-test', description: 'a test' }\n${body}\n`;
}
