import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import type { Clock, TimerHandle } from '../../runtime/ports.ts';
import { CUT_REACH, type Cuts } from '../cuts.ts';
import { killMarkedProcesses } from '../tools/shell/stray-processes.ts';
import { type GroupGuardian, MARK_VARIABLE } from './group-guardian.ts';

export interface AgentProcessOptions {
  /** Absolute path or a name on the path. */
  readonly program: string;
  readonly args: readonly string[];
  /** Working directory; absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly guardian: GroupGuardian;
  readonly clock: Clock;
  readonly cuts: Cuts;
  /** Called for whatever arrives on its outputs. */
  readonly onSign: () => void;
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started. */
  readonly failure?: NodeJS.ErrnoException;
  /** The last that it wrote to its standard error; bounded, without control characters. */
  readonly lastWords: string;
}

/** Time between asking a group to end and killing it; less than the two seconds an aborted agent has. */
const TERM_MS = 1_000;
/** Time to end by itself, once its input is closed, before it is asked to. */
const LEAVE_MS = 250;
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const LAST_WORDS = 2_000;

/** Tells the marks of processes apart. */
let processes = 0;

/**
 * One process of an agent CLI, in a group of its own: lines in, lines out, and an end that takes its children with it.
 *
 * Contract: `nextLine` gives undefined once there are no more lines; one call at a time. `stop` may be called at any
 * time and any number of times.
 */
export class AgentProcess {
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #options: AgentProcessOptions;
  /** In the environment of all that it starts. */
  readonly #mark: string;
  readonly #lines: string[] = [];
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #closed = false;
  #exited = false;
  #wake: (() => void) | undefined;
  #lastWords = '';
  #killTimer: TimerHandle | undefined;

  constructor(options: AgentProcessOptions) {
    const { program, args, cwd, env, guardian } = options;
    this.#options = options;
    guardian.open();
    processes += 1;
    this.#mark = `${guardian.token}/${processes}`;
    const marked = { ...env, [MARK_VARIABLE]: this.#mark };
    this.#child = spawn(program, [...args], { cwd, env: marked, detached: true, stdio: 'pipe' });
    const { pid } = this.#child;
    if (pid !== undefined) guardian.watch(pid);
    this.#child.stdin.on('error', () => {}); // it may be gone while we write; its end says so
    this.#child.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#child.stdout.on('end', () => this.closeOutput());
    this.#child.stderr.setEncoding('utf8');
    this.#child.stderr.on('data', (text: string) => this.#hear(text));
    this.ended = this.#whenEnded();
  }

  writeLine(line: string): void {
    if (!this.#exited) this.#child.stdin.write(`${line}\n`);
  }

  async nextLine(): Promise<string | undefined> {
    while (this.#lines.length === 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.shift();
  }

  /** Ends the lines, whatever may still come. */
  closeOutput(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /** Something it wrote to its output that is no line of the protocol; kept for the report of its end. */
  noise(text: string): void {
    this.#hear(`${text}\n`);
  }

  /** Lets it end by itself for a moment, then ends it. Resolves when it is gone. */
  async leave(): Promise<void> {
    this.#child.stdin.end();
    const timer = this.#options.clock.after(LEAVE_MS, () => this.stop());
    await this.ended;
    timer.cancel();
  }

  /** Asks the whole group to end, and kills what is left of it a second later. */
  stop(): void {
    if (this.#exited || this.#killTimer !== undefined) return;
    this.closeOutput();
    this.#signal('SIGTERM');
    this.#killTimer = this.#options.clock.after(TERM_MS, () => this.#signal('SIGKILL'));
  }

  #whenEnded(): Promise<ProcessEnd> {
    const child = this.#child;
    return new Promise((resolve) => {
      let wait: TimerHandle | undefined;
      let strays = Promise.resolve();
      const finish = (code: number | null, signal: NodeJS.Signals | null, failure?: NodeJS.ErrnoException): void => {
        wait?.cancel();
        this.#exited = true;
        this.closeOutput();
        const end = { code, signal, lastWords: this.#shownWords() };
        void strays.then(() => resolve(failure === undefined ? end : { ...end, failure }));
      };
      child.on('error', (failure) => finish(null, null, failure));
      child.on('exit', (code, signal) => {
        this.#exited = true;
        this.#killTimer?.cancel();
        this.#signal('SIGKILL'); // its children, who may have ignored the first request
        strays = killMarkedProcesses(MARK_VARIABLE, this.#mark); // and those that left the group
        if (child.pid !== undefined) this.#options.guardian.release(child.pid);
        // What it wrote last may still be on its way; a stranger that holds its output open must not keep us.
        wait = this.#options.clock.after(LEAVE_MS, () => finish(code, signal));
      });
      child.on('close', (code, signal) => finish(code, signal));
    });
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The group is gone.
    }
  }

  #take(chunk: Buffer): void {
    this.#options.onSign();
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      this.#partial.push(chunk.subarray(from, at));
      this.#lines.push(Buffer.concat(this.#partial).toString('utf8'));
      this.#partial = [];
      this.#partialBytes = 0;
      from = at + 1;
    }
    if (from < chunk.length) {
      this.#partial.push(chunk.subarray(from));
      this.#partialBytes += chunk.length - from;
    }
    if (this.#partialBytes > MAX_LINE_BYTES) {
      this.noise(`a line of its output was over ${MAX_LINE_BYTES} bytes`);
      this.stop();
    }
    if (this.#lines.length > 0) this.#wake?.();
  }

  #hear(text: string): void {
    this.#options.onSign();
    this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS - CUT_REACH);
  }

  #shownWords(): string {
    const words = printable(this.#lastWords);
    return this.#options.cuts.slice(words, words.length - LAST_WORDS, words.length).trim();
  }
}

function printable(text: string): string {
  return stripVTControlCharacters(text.toWellFormed())
    .replace(/(?![\n\t])\p{Cc}/gu, '')
    .trim();
}
