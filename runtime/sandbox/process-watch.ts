import type { ChildProcess } from 'node:child_process';
import { residentMib } from './resident-memory.ts';
import type { SandboxOptions } from './sandbox.ts';
import { RESIDENT_ALLOWANCE_MIB } from './wire.ts';

const MEMORY_POLL_MS = 100;
const PING_MS = 1000;
/** Pings without an answer. Counted, not timed: a parent that was busy itself has not asked either. */
const PINGS_MISSED = 15;

export interface ProcessWatchEvents {
  ping(number: number): void;
  lastPong(): number;
  overMemory(): void;
  silent(seconds: number): void;
}

/**
 * Watches a sandbox process from its parent: how much memory it holds (S-23), and whether its main thread still answers.
 * Gives the function that stops it.
 */
export function watchProcess(child: ChildProcess, options: SandboxOptions, events: ProcessWatchEvents): () => void {
  let pings = 0;
  const memory = setInterval(() => {
    const used = child.pid === undefined ? undefined : residentMib(child.pid);
    if (used !== undefined && used > options.memoryLimitMb + RESIDENT_ALLOWANCE_MIB) events.overMemory();
  }, MEMORY_POLL_MS);
  const life = setInterval(() => {
    if (pings - events.lastPong() >= PINGS_MISSED) events.silent(PINGS_MISSED);
    else events.ping(++pings);
  }, PING_MS);
  memory.unref();
  life.unref();
  return () => {
    clearInterval(memory);
    clearInterval(life);
  };
}
