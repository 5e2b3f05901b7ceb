import type { Sandbox } from './sandbox.ts';

/** A sandbox whose process could not even be tried, for example because the native module has no binary for this system. */
export function failedSandbox(error: unknown): Sandbox {
  const reason = error instanceof Error ? (error.message.split('\n')[0] as string) : String(error);
  const message = `The sandbox process could not be started: ${reason}. Reinstall the package on this machine.`;
  return {
    end: Promise.resolve({ type: 'crashed', message }),
    ready: Promise.resolve(),
    pid: undefined,
    run() {},
    answer() {},
    answerWorkflow() {},
    kill() {},
    settled: () => Promise.resolve(),
  };
}
