import type { GuestEnd } from '../../dsl/wire.ts';
import type { SandboxEnd, SandboxOptions } from './sandbox.ts';
import type { LimitNotice } from './wire.ts';

/** What a guest's last message means for the run. */
export function endOfGuest(message: GuestEnd, options: SandboxOptions): SandboxEnd {
  switch (message[0]) {
    case 'returned':
      return { type: 'returned', valueJson: message[1] ?? undefined, warnings: message[2] };
    case 'threw': {
      const { name, message: text } = message[1];
      // How the engine says that the limit is reached by buffers, which lie outside the heap.
      const outOfBuffers = name === 'RangeError' && /^array buffer allocation failed$/i.test(text);
      return outOfBuffers ? outOfMemory(options) : { type: 'threw', error: message[1] };
    }
    case 'not-json':
      return { type: 'not-json', path: message[1], what: message[2] };
    default:
      return message satisfies never;
  }
}

export function endOfLimit(notice: LimitNotice, options: SandboxOptions): SandboxEnd {
  if (notice.code === 'LIMIT_MEMORY') return outOfMemory(options);
  return {
    type: 'limit',
    code: 'LIMIT_CPU',
    message:
      `The script ran for ${options.cpuLimitMs} ms of CPU time without waiting for anything; it probably loops for ever. ` +
      'Fix the loop, or raise --cpu-limit-ms.',
  };
}

export function outOfMemory(options: SandboxOptions): SandboxEnd {
  return {
    type: 'limit',
    code: 'LIMIT_MEMORY',
    message:
      `The script used more memory than its limit of ${options.memoryLimitMb} MiB. ` +
      'Hold less at a time (work in slices, keep summaries instead of whole texts), or raise --memory-limit-mb.',
  };
}

/** Signals and codes with which the engine ends a process that has no memory left. */
const ABORTS = ['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS'];
const WINDOWS_ABORTS = [134, 0x80000003, 0xc0000005, 0xc000001d, 0xc0000409];

/** What it means that the process ended without a word. */
export function endOfProcess(
  code: number | null,
  signal: NodeJS.Signals | null,
  options: SandboxOptions | undefined,
): SandboxEnd {
  const aborted = signal === null ? WINDOWS_ABORTS.includes(code ?? 0) : ABORTS.includes(signal);
  if (aborted && options !== undefined) return outOfMemory(options);
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const hint =
    signal === 'SIGKILL' ? ' Something outside killed it; most often the system, because its memory ran out.' : '';
  return { type: 'crashed', message: `The sandbox process was ended ${how}.${hint} The run can be resumed.` };
}
