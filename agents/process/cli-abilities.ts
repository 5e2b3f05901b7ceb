import { execFile } from 'node:child_process';

/** Which options a command has beside those that every agent CLI of this family has. */
export interface CliAbilities {
  has(flag: string): boolean;
}

const HELP_WITHIN_MS = 15_000;
const MAX_HELP_BYTES = 1024 * 1024;

/**
 * Asks a command for its `--help` and takes the names of its options from it. Never rejects: of a command whose help
 * cannot be read nothing is assumed.
 */
export function readAbilities(
  program: string,
  args: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<CliAbilities> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      [...args, '--help'],
      { ...place, timeout: HELP_WITHIN_MS, killSignal: 'SIGKILL', maxBuffer: MAX_HELP_BYTES },
      (_error, stdout, stderr) => {
        const flags = new Set(`${stdout}\n${stderr}`.match(/--[a-zA-Z][a-zA-Z-]*/g));
        resolve({ has: (flag) => flags.has(flag) });
      },
    );
    child.stdin?.end();
  });
}
