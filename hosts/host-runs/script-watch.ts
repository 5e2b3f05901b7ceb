import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Sandbox, SandboxHandlers } from '../../runtime/sandbox/sandbox.ts';

export interface ScriptWatchOptions {
  /** Calls that somebody holds and that need no time of ours: steps that wait, and calls that wait for their turn. */
  readonly held: () => number;
  /** A line of the script's own log. */
  readonly onLog: (level: string, text: string) => void;
}

/**
 * Tells when a script has done all that the answers given so far let it do, so that a reply shows every step there is.
 *
 * It stands between a run and its sandbox: what is asked and not answered, and not held, is on its way.
 */
export class ScriptWatch {
  /** To be given to the run in place of the sandbox. */
  readonly sandbox: Sandbox;
  readonly #inner: Sandbox;
  readonly #options: ScriptWatchOptions;
  /** What the script asked for and has no answer to: agents, nested workflows, leave for a large fan-out. */
  #unanswered = 0;
  #changes = 0;
  #ended = false;
  #waiting: (() => void)[] = [];

  constructor(inner: Sandbox, options: ScriptWatchOptions) {
    this.#inner = inner;
    this.#options = options;
    this.sandbox = this.#wrap();
    void inner.end.then(() => {
      this.#ended = true;
      this.touch();
    });
  }

  /** Says that something changed that {@link rest} depends on. */
  readonly touch = (): void => {
    this.#changes += 1;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  };

  /** Resolves with the next change. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when nothing more happens without an answer, a timer of the script or the end of the run. */
  async rest(): Promise<void> {
    await this.#inner.ready;
    while (!this.#ended) {
      const before = this.#changes;
      await this.#inner.settled();
      await nextTurn();
      if (this.#changes !== before) continue;
      if (this.#unanswered <= this.#options.held()) return;
      await this.changed();
    }
  }

  #wrap(): Sandbox {
    const inner = this.#inner;
    return {
      end: inner.end,
      ready: inner.ready,
      get pid() {
        return inner.pid;
      },
      run: (program, options, handlers) => inner.run(program, options, this.#watch(handlers)),
      answer: (id, answer, spent) => {
        inner.answer(id, answer, spent);
        this.#answered();
      },
      answerWorkflow: (id, answer) => {
        inner.answerWorkflow(id, answer);
        this.#answered();
      },
      settled: () => inner.settled(),
      kill: () => inner.kill(),
    };
  }

  #watch(handlers: SandboxHandlers): SandboxHandlers {
    return {
      ...handlers,
      agent: (call) => {
        this.#asked();
        handlers.agent(call);
      },
      workflow: (call) => {
        this.#asked();
        handlers.workflow(call);
      },
      fanOut: (request) => {
        this.#asked();
        handlers.fanOut?.(request);
      },
      log: (level, text) => {
        this.#options.onLog(level, text);
        handlers.log(level, text);
      },
    };
  }

  #asked(): void {
    this.#unanswered += 1;
    this.touch();
  }

  #answered(): void {
    this.#unanswered -= 1;
    this.touch();
  }
}
