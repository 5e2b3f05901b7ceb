import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { kill, pid } from 'node:process';
import type { RunRecord } from '../protocol/run-record.ts';

/**
 * Names one process for good: a pid alone may be given to another process later. `startedAt` is the boot id and the start
 * time in clock ticks since that boot (field 22 of /proc/<pid>/stat); absent where the system has no /proc.
 */
export type ProcessIdentity = NonNullable<RunRecord['owner']> & {
  /** Within which its pid means something: containers of one host may share its name and not its pids. */
  readonly pidNamespace?: string;
};

/** `unknown`: it cannot be looked at from here, so that only its heartbeat can tell. */
export type ProcessState = 'alive' | 'dead' | 'unknown';

/** What the store needs to know of processes, so that tests can make them up. */
export interface ProcessTable {
  readonly self: ProcessIdentity;
  /** What has become of that very process. A stopped one (SIGSTOP) is alive, a zombie is dead. */
  stateOf(identity: ProcessIdentity): ProcessState;
}

/** The processes of this machine. */
export function systemProcesses(): ProcessTable {
  const host = hostname();
  const startedAt = procStat(pid)?.startedAt;
  const pidNamespace = ownPidNamespace();
  return {
    self: {
      host,
      pid,
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(pidNamespace === undefined ? {} : { pidNamespace }),
    },
    stateOf: (identity) =>
      identity.host === host && (identity.pidNamespace ?? pidNamespace) === pidNamespace
        ? stateHere(identity)
        : 'unknown',
  };
}

function stateHere(identity: ProcessIdentity): ProcessState {
  const found = procStat(identity.pid);
  if (found === undefined) return existsWithoutProc(identity.pid) ? 'unknown' : 'dead';
  if (found.state === 'Z' || found.state === 'X') return 'dead';
  if (identity.startedAt === undefined) return 'unknown';
  return identity.startedAt === found.startedAt ? 'alive' : 'dead';
}

/** Some process has that pid; which one, nobody says. */
function existsWithoutProc(processId: number): boolean {
  try {
    kill(processId, 0);
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

function ownPidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}
