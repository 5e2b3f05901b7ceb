import type { Readable } from 'node:stream';
import type { Sandbox } from '../runtime/sandbox/sandbox.ts';
import type { TextOutput } from './output/text-output.ts';

/** What a command knows of the process that it runs in. Only `main.ts` makes one from `process`; tests make their own. */
export interface CliContext {
  /** Words after the program's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  readonly homeDirectory: string;
  readonly stdin: Readable;
  /** The chosen output and nothing else (C-6). */
  readonly stdout: TextOutput;
  /** Everything for a person. */
  readonly stderr: TextOutput;
  /** Registers for a signal; returns what takes the registration back. */
  readonly onSignal: (name: StopSignal, listener: () => void) => () => void;
  /** Ends the process without waiting for anything. */
  readonly exitNow: (code: number) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Gives the sandbox process that was started early, once; undefined when none was. The taker owns it. */
  readonly takeSandbox: () => Sandbox | undefined;
}

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
