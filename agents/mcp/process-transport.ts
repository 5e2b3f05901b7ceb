import { type ChildProcess, spawn } from 'node:child_process';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { type GroupGuardian, MARK_VARIABLE } from '../process/group-guardian.ts';
import type { StdioServer } from './mcp-config.ts';
import { MessageLines } from './message-lines.ts';

/** A server may take so long to end by itself once its input has ended, and then so long after SIGTERM. */
const LEAVES_WITHIN_MS = 400;
const STDERR_CHARACTERS = 20_000;

/**
 * The line to an MCP server that is a process of ours. Unlike the SDK's own, the server leads a process group, so that what it
 * started ends with it, within 2 s.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #server: StdioServer;
  readonly #env: Readonly<Record<string, string>>;
  readonly #guardian: GroupGuardian;
  readonly #exited = Promise.withResolvers<void>();
  #child: ChildProcess | undefined;
  #stderr = '';
  #closed = false;

  /**
   * @param env what the server gets beside its own `env`
   * @param guardian ends it when this process is killed
   */
  constructor(server: StdioServer, env: Readonly<Record<string, string>>, guardian: GroupGuardian) {
    this.#server = server;
    this.#env = env;
    this.#guardian = guardian;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The end of what the server wrote to stderr. */
  get stderr(): string {
    return this.#stderr.trim();
  }

  start(): Promise<void> {
    const { command, args, env, cwd } = this.#server;
    this.#guardian.open();
    const child = spawn(command, args, {
      cwd,
      env: { ...this.#env, ...env, [MARK_VARIABLE]: this.#guardian.token },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.#child = child;
    if (child.pid !== undefined) this.#guardian.watch(child.pid);
    const lines = new MessageLines({
      onMessage: (message) => this.onmessage?.(message),
      onBroken: (error) => this.onerror?.(error),
    });
    child.stdout.on('data', lines.take);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARACTERS);
    });
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
    child.once('exit', () => {
      this.#exited.resolve();
      this.#killGroup('SIGKILL'); // what it leaves behind
      if (child.pid !== undefined) this.#guardian.release(child.pid);
      this.#tellClosed();
    });
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => {
        this.#exited.resolve();
        this.#tellClosed();
        reject(error);
      });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (this.#closed || input === undefined || input === null || !input.writable) {
      return Promise.reject(new Error(`the MCP server ${this.#server.name} has ended`));
    }
    return new Promise((resolve) => {
      input.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
  }

  /** Ends the server: by the end of its input, then by SIGTERM, then by SIGKILL, each to the whole group. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.stdin?.end();
    if (!(await this.#isGone())) {
      this.#killGroup('SIGTERM');
      if (!(await this.#isGone())) {
        this.#killGroup('SIGKILL');
        await this.#exited.promise;
      }
    }
    this.#killGroup('SIGKILL');
    this.#tellClosed();
  }

  async #isGone(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), LEAVES_WITHIN_MS);
    });
    const gone = await Promise.race([this.#exited.promise.then(() => true), late]);
    clearTimeout(timer);
    return gone;
  }

  #killGroup(signal: 'SIGTERM' | 'SIGKILL'): void {
    const child = this.#child;
    if (child?.pid === undefined) return;
    try {
      if (process.platform === 'win32') child.kill(signal);
      else process.kill(-child.pid, signal);
    } catch {
      // Nobody is left in it.
    }
  }

  #tellClosed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.();
  }
}
