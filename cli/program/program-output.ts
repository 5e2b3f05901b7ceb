import type { OutputConfiguration } from 'commander';
import type { CliContext } from '../cli-context.ts';

/** Where a command line writes its help. What is wrong with it is printed once, by the caller, with its code. */
export function programOutput({ stdout, stderr }: CliContext): OutputConfiguration {
  return {
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    outputError: () => {},
    getOutHelpWidth: () => stdout.columns ?? 100,
    getErrHelpWidth: () => stderr.columns ?? 100,
  };
}
