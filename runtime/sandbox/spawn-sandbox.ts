import type { ChildProcess } from 'node:child_process';
import { type SpawnOptions, startChildProcess } from './child-process.ts';
import { encodeAnswer } from './encode-answers.ts';
import { endOfProcess, outOfMemory } from './end-messages.ts';
import { failedSandbox } from './failed-sandbox.ts';
import { createGuestReader, type GuestReader } from './guest-reader.ts';
import { watchProcess } from './process-watch.ts';
import type { Sandbox, SandboxEnd, SandboxHandlers, SandboxOptions, SandboxProgram } from './sandbox.ts';
import { LineTooLong, splitLines } from './split-lines.ts';
import { type NestedOrder, type StartOrder, TO_CHILD } from './wire.ts';

const MIB = 1024 * 1024;

/** Starts a sandbox process at once; it makes its isolate ready while the caller reads and parses the script. Never throws. */
export function spawnSandbox(options: SpawnOptions = {}): Sandbox {
  try {
    return new SandboxProcess(startChildProcess(options));
  } catch (error) {
    return failedSandbox(error);
  }
}

class SandboxProcess implements Sandbox {
  readonly end: Promise<SandboxEnd>;
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  #settleEnd: (end: SandboxEnd) => void = () => {};
  #settleReady: () => void = () => {};
  #over = false;
  #reader: GuestReader | undefined;
  #options: SandboxOptions | undefined;
  #answers: string[] = [];
  /** Resolvers of `settled`, oldest first; the first one waits for number `#settledCount` + 1. */
  #settling: (() => void)[] = [];
  #settledCount = 0;
  #stopWatching: () => void = () => {};

  constructor(child: ChildProcess) {
    this.#child = child;
    this.end = new Promise((resolve) => {
      this.#settleEnd = resolve;
    });
    this.ready = new Promise((resolve) => {
      this.#settleReady = resolve;
    });
    child.on('error', (error) =>
      this.#finish({ type: 'crashed', message: `The sandbox process did not start: ${error.message}` }),
    );
    // Not `exit`: what the process said last is still in the pipe then.
    child.on('close', (code, signal) => this.#finish(endOfProcess(code, signal, this.#options)));
    child.stdin?.on('error', () => {
      // The process is gone; `close` says how.
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  run(program: SandboxProgram, options: SandboxOptions, handlers: SandboxHandlers): void {
    if (this.#over || this.#options !== undefined) return;
    this.#options = options;
    const reader = createGuestReader(options, handlers, {
      ready: () => this.#settleReady(),
      settled: (number) => this.#cameToRest(number),
      end: (end) => this.#finish(end),
    });
    this.#reader = reader;
    const lines = splitLines((options.memoryLimitMb + 64) * MIB, (line) => {
      if (!this.#over) reader.line(line);
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      try {
        if (!this.#over) lines.take(chunk);
      } catch (error) {
        if (!(error instanceof LineTooLong)) throw error;
        this.#finish({ type: 'crashed', message: `The sandbox process sent ${error.message}.` });
      }
    });
    this.#stopWatching = watchProcess(this.#child, options, {
      ping: (number) => this.#send(TO_CHILD.ping + number),
      lastPong: () => reader.lastPong,
      overMemory: () => this.#finish(outOfMemory(options)),
      silent: (seconds) =>
        this.#finish({ type: 'crashed', message: `The sandbox process did not answer for ${seconds} seconds.` }),
    });
    this.#send(TO_CHILD.start + JSON.stringify({ program, options } satisfies StartOrder));
  }

  answer(...[id, answer, spent]: Parameters<Sandbox['answer']>): void {
    if (this.#over || this.#reader?.close(id) !== true) return;
    this.#queueAnswer(encodeAnswer(id, answer, spent));
    if (!answer.ok) this.#flush();
  }

  answerWorkflow(...[id, answer]: Parameters<Sandbox['answerWorkflow']>): void {
    if (this.#over || this.#reader?.close(id) !== true) return;
    if (!answer.ok) {
      this.#queueAnswer(encodeAnswer(id, answer, null));
      this.#flush();
      return;
    }
    const { program, name } = answer;
    this.#flush();
    this.#send(TO_CHILD.nested + JSON.stringify({ id, name, program } satisfies NestedOrder));
  }

  kill(): void {
    this.#finish({ type: 'killed' });
  }

  settled(): Promise<void> {
    if (this.#over) return Promise.resolve();
    this.#flush();
    return new Promise((resolve) => {
      this.#settling.push(resolve);
      this.#send(`${TO_CHILD.settle}${this.#settledCount + this.#settling.length}`);
    });
  }

  #cameToRest(number: number): void {
    while (this.#settledCount < number && this.#settling.length > 0) {
      this.#settledCount += 1;
      this.#settling.shift()?.();
    }
  }

  /**
   * Answers given in one turn cross together, up to one that rejects: the engine tells of one unhandled rejection a turn
   * (S-26).
   */
  #queueAnswer(json: string): void {
    if (this.#answers.length === 0) setImmediate(() => this.#flush());
    this.#answers.push(json);
  }

  #flush(): void {
    if (this.#answers.length === 0) return;
    const batch = this.#answers;
    this.#answers = [];
    this.#send(`${TO_CHILD.answers}[${batch.join(',')}]`);
  }

  #send(line: string): void {
    if (!this.#over) this.#child.stdin?.write(`${line}\n`);
  }

  #finish(end: SandboxEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWatching();
    this.#child.kill('SIGKILL');
    this.#answers = [];
    this.#settleReady();
    this.#cameToRest(Number.POSITIVE_INFINITY);
    this.#settleEnd(end);
  }
}
