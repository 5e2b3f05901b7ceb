/**
 * Lines between the runtime and the sandbox process. The first character says what a line is; the rest is its body.
 * Batches of the guest (`dsl/wire.ts`) pass through the child unread.
 */
import type { SandboxOptions, SandboxProgram } from './sandbox.ts';

/** To the child. */
export const TO_CHILD = {
  /** Body: {@link StartOrder}. */
  start: 'S',
  /** Body: a JSON array of `HostAnswer`. */
  answers: 'A',
  /** Body: {@link NestedOrder}. */
  nested: 'N',
  /** Body: a number to send back. */
  ping: 'P',
  /** Body: a number to send back once the script has come to rest. */
  settle: 'Q',
} as const;

/** From the child. */
export const FROM_CHILD = {
  ready: 'R',
  /** Body: a JSON array of `GuestMessage`. */
  guest: 'G',
  /** Body: the number of a ping. */
  pong: 'O',
  /** Body: the number of a `settle`. All that the script said before it came to rest was sent before. */
  settled: 'T',
  deadlock: 'D',
  /** Body: {@link LimitNotice}. */
  limit: 'L',
  /** Body: text. */
  broken: 'X',
} as const;

export interface StartOrder {
  readonly program: SandboxProgram;
  readonly options: SandboxOptions;
}

export interface NestedOrder {
  readonly id: number;
  readonly name: string;
  readonly program: SandboxProgram;
}

export interface LimitNotice {
  readonly code: 'LIMIT_CPU' | 'LIMIT_MEMORY';
}

/** Resident memory that the process may use beyond the script's limit (S-23): Node itself takes some 60 MiB of it. */
export const RESIDENT_ALLOWANCE_MIB = 300;

/** Heap that the sandbox makes ready before it knows the script's limit. */
export const DEFAULT_MEMORY_LIMIT_MIB = 256;
