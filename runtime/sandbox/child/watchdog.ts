import { type LimitNotice, RESIDENT_ALLOWANCE_MIB } from '../wire.ts';

const POLL_MS = 50;
const MIB = 1024 * 1024;

export interface Watchdog {
  /** A turn has begun. */
  begin(): void;
  /** A turn has ended: the script has yielded. */
  end(): void;
}

/**
 * Watches, from outside the isolate, how much CPU time a script takes without yielding (S-24) and how much memory the
 * process holds (S-23). It sleeps while the script waits, so that waiting is free.
 */
export function createWatchdog(
  limits: { readonly cpuLimitMs: number; readonly memoryLimitMb: number },
  cpuMs: () => number,
  onLimit: (notice: LimitNotice) => void,
): Watchdog {
  let turns = 0;
  let yieldedAtCpuMs = 0;
  let armed = false;
  let lastReadMs = 0;
  /** An isolate may be lost at any moment, and then has no time to tell; its calls fail, which is seen elsewhere. */
  const readCpuMs = (): number => {
    try {
      lastReadMs = cpuMs();
    } catch {
      // The last reading stands.
    }
    return lastReadMs;
  };
  const check = (): void => {
    armed = false;
    if (turns === 0) return;
    const used = readCpuMs() - yieldedAtCpuMs;
    if (used > limits.cpuLimitMs) {
      onLimit({ code: 'LIMIT_CPU' });
      return;
    }
    const residentMib = process.memoryUsage.rss() / MIB;
    if (residentMib > limits.memoryLimitMb + RESIDENT_ALLOWANCE_MIB) {
      onLimit({ code: 'LIMIT_MEMORY' });
      return;
    }
    arm();
  };
  const arm = (): void => {
    if (armed) return;
    armed = true;
    setTimeout(check, Math.min(POLL_MS, Math.max(5, limits.cpuLimitMs)));
  };
  return {
    begin() {
      if (turns++ === 0) yieldedAtCpuMs = readCpuMs();
      arm();
    },
    end() {
      turns--;
      yieldedAtCpuMs = readCpuMs();
    },
  };
}
