/**
 * What a workflow script may say, for editors: put a line `/// <reference path="./wf-globals.d.ts" />` at the top of a
 * script, or add this file to a `jsconfig.json` beside your workflows. `wf types` prints it.
 *
 * These are the only names besides those of the language. There is no `require`, `process`, `fetch`, clock or chance.
 */

/** Any value that JSON can hold. */
type WorkflowJson =
  | null
  | boolean
  | number
  | string
  | readonly WorkflowJson[]
  | { readonly [key: string]: WorkflowJson };

interface AgentOptions {
  /** Name shown for the agent. @defaultValue the first 60 characters of the prompt */
  label?: string;
  /** Phase it is shown under, instead of the current one. */
  phase?: string;
  /** JSON Schema (2020-12) that the answer must fit. Without it the answer is text. */
  schema?: object | string;
  /** `haiku`, `sonnet`, `opus` or the id of a model. */
  model?: string;
  effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /** `worktree`: works in a git worktree of its own, which is kept if it holds changes. */
  isolation?: 'worktree';
  /** A type of agent, for example `Explore`. */
  agentType?: string;
  tools?: readonly string[];
  disallowedTools?: readonly string[];
  maxTurns?: number;
  /** Rejects when there is no answer after so many milliseconds. */
  timeoutMs?: number;
  /** Tries again after so many milliseconds without a sign of life. @defaultValue 180000 */
  stallMs?: number;
  /** Class of agents that `--lane NAME=N` bounds. */
  lane?: string;
}

/**
 * Asks one subagent and resolves with its answer: text, or with `schema` the value that fits it.
 *
 * `null` when the agent died on an API error after its retries: check for it. Rejects when there is no usable answer
 * (`AGENT_NO_OUTPUT`, `AGENT_OUTPUT_INVALID`, `AGENT_TIMED_OUT`) and at a limit (`LIMIT_AGENT_COUNT`, `LIMIT_BUDGET`: do
 * not try again), with that word as the `code` of the error; with a TypeError for wrong arguments. Never throws where it
 * is called.
 */
declare function agent(prompt: unknown, options?: AgentOptions & { schema?: undefined }): Promise<string | null>;
// biome-ignore lint/suspicious/noExplicitAny: what the schema says is known to the author, not to the compiler
declare function agent<T = any>(prompt: unknown, options: AgentOptions): Promise<T | null>;

/** Calls all functions at once and waits for all of them. One that throws gives `null` in its place. Pass functions, not promises. */
declare function parallel<T>(thunks: readonly ((index: number) => T | Promise<T>)[]): Promise<(Awaited<T> | null)[]>;

/**
 * Takes each item through the stages on its own: no item waits for another. A stage gets the last result, the item and its
 * index. `null` or a throw ends an item, whose result is then `null`.
 */
declare function pipeline<T>(items: readonly T[]): Promise<T[]>;
declare function pipeline<T, A>(
  items: readonly T[],
  first: (item: T, sameItem: T, index: number) => A | Promise<A>,
): Promise<(Awaited<A> | null)[]>;
declare function pipeline<T, A, B>(
  items: readonly T[],
  first: (item: T, sameItem: T, index: number) => A | Promise<A>,
  second: (previous: NonNullable<Awaited<A>>, item: T, index: number) => B | Promise<B>,
): Promise<(Awaited<B> | null)[]>;
declare function pipeline<T, A, B, C>(
  items: readonly T[],
  first: (item: T, sameItem: T, index: number) => A | Promise<A>,
  second: (previous: NonNullable<Awaited<A>>, item: T, index: number) => B | Promise<B>,
  third: (previous: NonNullable<Awaited<B>>, item: T, index: number) => C | Promise<C>,
): Promise<(Awaited<C> | null)[]>;
// biome-ignore lint/suspicious/noExplicitAny: longer pipelines are not followed from stage to stage
declare function pipeline<T>(items: readonly T[], ...stages: any[]): Promise<any[]>;

/** Puts the agents that follow into a phase; with a function, those that it calls. */
declare function phase(title: string): void;
declare function phase<T>(title: string, body: () => T | Promise<T>): Promise<Awaited<T>>;

/** Shows a value to the person who watches the run. */
declare function log(value: unknown): void;

/** Runs a saved workflow, or a file, as a function of this one: same limits, same journal. */
// biome-ignore lint/suspicious/noExplicitAny: its result is known to its author
declare function workflow<T = any>(nameOrFile: string | { scriptPath: string }, args?: WorkflowJson): Promise<T>;

/** Output tokens of the run. `total` is null without a budget, and `remaining()` then Infinity. */
declare const budget: { readonly total: number | null; spent(): number; remaining(): number };

/** The value given to the run; undefined when none was. */
// biome-ignore lint/suspicious/noExplicitAny: its shape is between the author and the caller
declare const args: any;

declare const console: Record<'log' | 'info' | 'debug' | 'warn' | 'error', (...values: unknown[]) => void>;

declare function setTimeout(callback: (...values: unknown[]) => void, delayMs?: number, ...values: unknown[]): number;
declare function clearTimeout(id: number | undefined): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;
