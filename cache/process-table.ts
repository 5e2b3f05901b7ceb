import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { kill, pid } from 'node:process';
import type { RunRecord } from '../protocol/run-record.ts';

/**
 * Names one process for good: a pid alone may be given to another process later. `startedAt` is the boot id and the start
 * time in clock ticks since that boot (field 22 of /proc/<pid>/stat); absent where the system has no /proc.
 */
export type ProcessIdentity = NonNullable<RunRecord['owner']>;

/** What the store needs to know of processes, so that tests can make them up. */
export interface ProcessTable {
  readonly self: ProcessIdentity;
  /** Whether that very process lives. A process of another host cannot be looked at: it counts as alive. */
  isAlive(identity: ProcessIdentity): boolean;
}

/** The processes of this machine. */
export function systemProcesses(): ProcessTable {
  const host = hostname();
  const startedAt = procStat(pid)?.startedAt;
  return {
    self: { host, pid, ...(startedAt === undefined ? {} : { startedAt }) },
    isAlive: (identity) => identity.host !== host || livesHere(identity),
  };
}

function livesHere(identity: ProcessIdentity): boolean {
  const found = procStat(identity.pid);
  if (found !== undefined) {
    const dead = found.state === 'Z' || found.state === 'X';
    return !dead && (identity.startedAt === undefined || identity.startedAt === found.startedAt);
  }
  try {
    kill(identity.pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}

/** Undefined when there is no such process, or no /proc. The name of a process may hold blanks and brackets. */
function procStat(processId: number): { readonly state: string; readonly startedAt: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', startedAt: `${bootId()}:${fields[19]}` };
  } catch {
    return undefined;
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return '';
  }
}
