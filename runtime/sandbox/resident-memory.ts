import { readFileSync } from 'node:fs';

/** Resident memory of a process in MiB; undefined where the system does not tell (only Linux does, cheaply). */
export function residentMib(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found === null ? undefined : Number(found[1]) / 1024;
  } catch {
    return undefined;
  }
}
