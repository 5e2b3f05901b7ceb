import { Readable } from 'node:stream';
import type { CliContext, StopSignal } from '../../../cli/cli-context.ts';
import type { TextOutput } from '../../../cli/output/text-output.ts';

export interface FakeContext extends CliContext {
  readonly printed: { stdout: string; stderr: string };
  /** What `exitNow` was called with. */
  readonly exits: number[];
  /** Sends a signal to whoever listens. */
  signal(name: StopSignal): void;
}

/** A process that exists in a test only. */
export function fakeContext(parts: Partial<CliContext> = {}): FakeContext {
  const printed = { stdout: '', stderr: '' };
  const exits: number[] = [];
  const listeners = new Map<StopSignal, () => void>();
  return {
    argv: [],
    env: {},
    cwd: '/nowhere',
    homeDirectory: '/nowhere/home',
    stdin: Readable.from([]),
    stdout: fakeOutput((text) => (printed.stdout += text)),
    stderr: fakeOutput((text) => (printed.stderr += text)),
    onSignal: (name, listener) => {
      listeners.set(name, listener);
      return () => listeners.delete(name);
    },
    exitNow: (code) => exits.push(code),
    now: () => 1_700_000_000_000,
    takeSandbox: () => undefined,
    ...parts,
    printed,
    exits,
    signal: (name) => listeners.get(name)?.(),
  };
}

function fakeOutput(write: (text: string) => void): TextOutput {
  return {
    write,
    flushed: () => Promise.resolve(),
    closed: false,
    failure: undefined,
    isTerminal: false,
    columns: undefined,
    stream: process.stdout,
  };
}
