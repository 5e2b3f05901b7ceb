/**
 * Entry of the command line. The sandbox process takes about as long to start as everything else, so it is started
 * before anything else is loaded; a command line that turns out to be wrong kills it again.
 */

import { homedir, userInfo } from 'node:os';
import type { Sandbox } from '../runtime/sandbox/sandbox.ts';
import { spawnSandbox } from '../runtime/sandbox/spawn-sandbox.ts';
import { createTextOutput } from './output/text-output.ts';

const argv = process.argv.slice(2);
let early: Sandbox | undefined = wantsSandbox(argv) ? spawnSandbox() : undefined;

const { runCli } = await import('./run-cli.ts');
const stdout = createTextOutput(process.stdout);
const stderr = createTextOutput(process.stderr);

for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const shown = process.env['WF_DEBUG'] === '1' ? text : text.split('\n')[0];
    process.stderr.write(
      `error: ${shown} [INTERNAL_INVARIANT]\n  This is a fault of wf. Please report it with the output of WF_DEBUG=1.\n`,
    );
    early?.kill();
    process.exit(70);
  });
}

const exitCode = await runCli({
  argv,
  env: process.env,
  cwd: process.cwd(),
  homeDirectory: process.env['HOME'] || homedir() || userInfo().homedir,
  stdin: process.stdin,
  stdout,
  stderr,
  onSignal: (name, listener) => {
    process.on(name, listener);
    return () => process.off(name, listener);
  },
  exitNow: (code) => process.exit(code),
  now: Date.now,
  takeSandbox: () => {
    const taken = early;
    early = undefined;
    return taken;
  },
});
await Promise.all([stdout.flushed(), stderr.flushed()]);
process.exit(exitCode);

/** Only `run` and `resume` run a script; help and words that are plainly missing do not. */
function wantsSandbox(words: readonly string[]): boolean {
  const [command, ...rest] = words;
  return (
    (command === 'run' || command === 'resume' || command === 'fork') &&
    rest.length > 0 &&
    !rest.some((w) => w === '-h' || w === '--help')
  );
}
