import type { Sandbox, SandboxAnswer, SandboxEnd, SandboxHandlers } from '../../runtime/sandbox/sandbox.ts';

/** What a script of these tests may do: call an agent at a place of the script. */
export type Ask = (prompt: string, scope: string) => Promise<unknown>;

export interface FaultSandboxOptions {
  /** The script. */
  readonly script: (ask: Ask) => Promise<unknown>;
  /** Called around the delivery of an answer; a throw keeps it from the script. */
  readonly beforeAnswer?: () => void;
  readonly afterAnswer?: (value: unknown) => void;
}

/** A sandbox without a process, so that hundreds of runs take seconds. */
export class FaultSandbox implements Sandbox {
  readonly end: Promise<SandboxEnd>;
  readonly ready: Promise<void> = Promise.resolve();
  readonly pid = undefined;
  readonly #options: FaultSandboxOptions;
  readonly #waiting = new Map<number, (value: unknown) => void>();
  #finish: (end: SandboxEnd) => void = () => {};
  #over = false;

  constructor(options: FaultSandboxOptions) {
    this.#options = options;
    this.end = new Promise((resolve) => {
      this.#finish = (end) => {
        this.#over = true;
        resolve(end);
      };
    });
  }

  run(_program: unknown, _options: unknown, handlers: SandboxHandlers): void {
    let id = 0;
    const ask: Ask = (prompt, scope) => {
      id += 1;
      const call = { id, prompt, optsJson: undefined, scope, phase: null, workflow: null };
      return new Promise((resolve) => {
        this.#waiting.set(call.id, resolve);
        if (!this.#over) handlers.agent(call as Parameters<SandboxHandlers['agent']>[0]);
      });
    };
    setImmediate(() => {
      void this.#options.script(ask).then((value) => {
        this.#finish({ type: 'returned', valueJson: JSON.stringify(value), warnings: [] });
      });
    });
  }

  answer(id: number, answer: SandboxAnswer): void {
    if (this.#over) return;
    const value: unknown = answer.ok ? JSON.parse(answer.valueJson) : answer.error.code;
    try {
      this.#options.beforeAnswer?.();
      this.#waiting.get(id)?.(value);
      this.#options.afterAnswer?.(value);
    } catch {
      this.kill();
    }
  }

  answerWorkflow(): void {}

  settled(): Promise<void> {
    return Promise.resolve();
  }

  kill(): void {
    this.#finish({ type: 'killed' });
  }
}
