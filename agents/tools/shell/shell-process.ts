import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { OutputBuffer } from './output-buffer.ts';
import { isGroupAlive, signalGroup } from './process-groups.ts';

/** Between the polite signal and the other one. */
const TERM_GRACE_MS = 300;
/** How long the group may take to vanish after the other one. */
const KILL_GRACE_MS = 700;
const POLL_MS = 20;
/** How long output that is under way may take to arrive after the shell has ended. */
const DRAIN_MS = 250;

export interface ShellProcessOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** In the output when all that the shell itself printed is there. */
  readonly endMark: string;
}

export interface ShellEnd {
  /** Undefined when a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
}

/** A shell in a process group of its own, with everything that it starts. */
export class ShellProcess {
  readonly output = new OutputBuffer();
  /** Resolves when the shell has ended and its output is there; what it left in the background may go on. */
  readonly ended: Promise<ShellEnd>;
  end: ShellEnd | undefined;
  readonly #child: ChildProcess;
  readonly #endMark: string;
  readonly #listeners = new Set<() => void>();
  #marked = false;

  constructor({ file, args, cwd, env, endMark }: ShellProcessOptions) {
    this.#endMark = endMark;
    this.#child = spawn(file, args, { cwd, env: { ...env }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (bytes: Buffer) => this.#take(bytes));
      stream?.on('error', () => {});
    }
    this.ended = this.#watch();
    this.ended.catch(() => {});
  }

  /** Id of its process group; undefined when it could not be started. */
  get group(): number | undefined {
    return this.#child.pid;
  }

  /** Calls `listener` when more was printed and when the shell ends; returns what takes it back. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether anything of the group still lives. */
  async isAlive(): Promise<boolean> {
    const { pid } = this.#child;
    return pid !== undefined && isGroupAlive(pid);
  }

  /** Ends the whole group, within about a second. */
  async kill(): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return;
    if (!(await isGoneWithin(pid, TERM_GRACE_MS)) && signalGroup(pid, 'SIGKILL'))
      await isGoneWithin(pid, KILL_GRACE_MS);
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  #take(bytes: Buffer): void {
    this.output.add(bytes);
    this.#marked ||= bytes.includes(this.#endMark);
    this.#changed();
  }

  async #watch(): Promise<ShellEnd> {
    const [exitCode, signal] = (await once(this.#child, 'exit')) as [number | null, string | null];
    await this.#drained();
    this.output.end();
    this.end = { exitCode: exitCode ?? undefined, signal: signal ?? undefined };
    this.#changed();
    return this.end;
  }

  /** Waits for what the shell printed last. A process in the background may hold the pipe open for ever. */
  async #drained(): Promise<void> {
    if (this.#marked) return;
    const stop = new AbortController();
    const { signal } = stop;
    const marked = new Promise<void>((resolve) => {
      const forget = this.onChange(() => {
        if (this.#marked) resolve();
      });
      signal.addEventListener('abort', forget, { once: true });
    });
    const closed = once(this.#child, 'close', { signal }).catch(() => {});
    await Promise.race([marked, closed, delay(DRAIN_MS, undefined, { signal }).catch(() => {})]);
    stop.abort();
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

async function isGoneWithin(group: number, limitMs: number): Promise<boolean> {
  for (let waited = 0; waited < limitMs; waited += POLL_MS) {
    if (!(await isGroupAlive(group))) return true;
    await delay(POLL_MS);
  }
  return false;
}
