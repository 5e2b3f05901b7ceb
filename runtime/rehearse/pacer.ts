import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GuestError, Sandbox, SandboxHandlers } from '../sandbox/sandbox.ts';

/** Chooses which of the waiting agents answers next, by its place in the list; they stand in the order in which they began. */
export type ChooseNext = (waiting: number) => number;

interface Waiting {
  readonly key: string;
  readonly go: () => void;
}

/** A thunk or a stage that threw something of its own. */
export interface BrokenPart {
  readonly error: GuestError;
}

/** Turns in which a script may answer a refusal by a call before the run counts as one that never gives in. */
const MOST_STUBBORN_TURNS = 50;

/**
 * Lets one agent answer at a time, and the next only when the script has done all that the last answer let it do. So the
 * order of the answers is what `choose` makes it, and the same in every run, however fast the machine is.
 */
export class Pacer {
  /** To be given to the run in place of the sandbox. */
  readonly sandbox: Sandbox;
  /** Lines of the script's own log. */
  readonly logs: string[] = [];
  readonly brokenParts: BrokenPart[] = [];
  /** Output tokens spent as the script knows it. */
  spent = 0;
  /** Agents that ever waited at one moment: with fewer than two there is one order only. */
  mostWaiting = 0;
  /** Turns in which the script had heard of nothing but refused calls, and made one that was refused. */
  readonly stubbornTurns = new Set<number>();
  readonly #inner: Sandbox;
  readonly #choose: ChooseNext;
  readonly #onRunaway: () => void;
  #waiting: Waiting[] = [];
  /** What the runtime has told the script so far: calls answered, workflows found. */
  #told = 0;
  #turn = 0;
  /** What the script hears in this turn, and in the next one. */
  #heard = { answers: 0, refusals: 0 };
  #toHear = { answers: 0, refusals: 0 };
  #openLookups = 0;
  #ended = false;
  #wake: (() => void) | undefined;
  #acting: { readonly key: string; readonly over: () => void } | undefined;

  constructor(inner: Sandbox, choose: ChooseNext, onRunaway: () => void) {
    this.#inner = inner;
    this.#choose = choose;
    this.#onRunaway = onRunaway;
    this.sandbox = this.#wrap();
    void inner.end.then(() => {
      this.#ended = true;
      this.#acting?.over();
      this.#wake?.();
    });
  }

  /** Resolves when it is this agent's turn to answer; rejects with the reason of an abort. */
  turnOf(key: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { key, go: resolve };
      const onAbort = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason);
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiting);
      this.#wake?.();
    });
  }

  /** The run has written down how an agent ended, and answers the script in the same turn. */
  agentEnded(key: string): void {
    if (this.#acting?.key === key) this.#acting.over();
  }

  #wrap(): Sandbox {
    const inner = this.#inner;
    return {
      end: inner.end,
      ready: inner.ready,
      get pid() {
        return inner.pid;
      },
      run: (program, options, handlers) => {
        inner.run(program, options, this.#watch(handlers));
        void this.#drive();
      },
      answer: (id, answer, spent) => {
        this.#told += 1;
        this.spent = spent;
        if (!answer.ok && answer.error.passesThrough === true) this.#refused();
        else this.#toHear.answers += 1;
        inner.answer(id, answer, spent);
      },
      answerWorkflow: (id, answer) => {
        this.#told += 1;
        this.#toHear.answers += 1;
        this.#openLookups -= 1;
        inner.answerWorkflow(id, answer);
        this.#wake?.();
      },
      settled: () => inner.settled(),
      kill: () => inner.kill(),
    };
  }

  #watch(handlers: SandboxHandlers): SandboxHandlers {
    return {
      ...handlers,
      workflow: (call) => {
        this.#openLookups += 1;
        handlers.workflow(call);
      },
      log: (level, text) => {
        this.logs.push(text);
        handlers.log(level, text);
      },
      partFailed: (part) => {
        this.brokenParts.push({ error: part.error });
        handlers.partFailed(part);
      },
    };
  }

  #refused(): void {
    this.#toHear.refusals += 1;
    if (this.#heard.answers > 0 || this.#heard.refusals === 0) return;
    this.stubbornTurns.add(this.#turn);
    if (this.stubbornTurns.size === MOST_STUBBORN_TURNS) this.#onRunaway();
  }

  async #drive(): Promise<void> {
    await this.#inner.ready;
    while (!this.#ended) {
      await this.#atRest();
      if (this.#ended) return;
      if (this.#waiting.length === 0) await this.#woken();
      else await this.#letOneAnswer();
    }
  }

  /** Resolves when the script waits, and the runtime has nothing left to tell it. */
  async #atRest(): Promise<void> {
    for (;;) {
      const told = this.#told;
      this.#turn += 1;
      this.#heard = this.#toHear;
      this.#toHear = { answers: 0, refusals: 0 };
      await this.#inner.settled();
      await nextTurn(); // what the script called in that turn has its slot after this
      if (this.#ended) return;
      if (this.#openLookups > 0) await this.#woken();
      else if (told === this.#told) return;
    }
  }

  async #letOneAnswer(): Promise<void> {
    this.mostWaiting = Math.max(this.mostWaiting, this.#waiting.length);
    const [next] = this.#waiting.splice(this.#choose(this.#waiting.length), 1);
    if (next === undefined) return;
    await new Promise<void>((over) => {
      this.#acting = { key: next.key, over };
      next.go();
    });
    this.#acting = undefined;
    await nextTurn();
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
