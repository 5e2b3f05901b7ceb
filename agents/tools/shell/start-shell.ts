import { randomBytes } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import type { ToolContext } from '../agent-tool.ts';
import { isInside } from '../files/workspace.ts';
import { boundsOf, type CommandSandbox } from './command-sandbox.ts';
import { ShellProcess } from './shell-process.ts';

/** A shell under way. */
export interface StartedShell {
  readonly process: ShellProcess;
  /** What it has printed from a place on, without what was printed for us. @param from characters before it; 0 when left out */
  output(from?: number): string;
  /** Characters that it has printed. */
  printed(): number;
  /** Where the shell stood at its end; undefined when it did not come to say so. */
  directory(): string | undefined;
}

/** No program stops to ask or to page. */
const CALM: Readonly<Record<string, string>> = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_PAGER: 'cat',
  PAGER: 'cat',
  TERM: 'dumb',
};

/** Why no command may run, in words for the model. */
export class ShellRefusedError extends Error {}

/**
 * Starts a command of an agent, in the sandbox of the machine where there is one.
 *
 * @throws ShellRefusedError where only a sandbox would do and there is none
 */
export async function startShell(command: string, context: ToolContext): Promise<StartedShell> {
  const { session, signal } = context;
  const sandbox = await sandboxFor(context);
  const [directory, temporary] = await Promise.all([startDirectory(context), session.temporaryDirectory()]);
  const token = randomBytes(12).toString('hex');
  const script = scriptOf(command, token, temporary);
  signal.throwIfAborted();
  const wrapped =
    sandbox === undefined ? script : await sandbox.wrap(script, await boundsOf(context.cwd, temporary), signal);
  if (signal.aborted) {
    sandbox?.ended();
    signal.throwIfAborted();
  }
  const { env } = session.host;
  const process = new ShellProcess({
    file: 'bash',
    args: ['--noprofile', '--norc', '-c', wrapped],
    cwd: directory,
    env: { ...env, ...CALM, TMPDIR: temporary, [session.mark.name]: session.mark.value },
    endMark: token,
  });
  session.adopt(process);
  if (sandbox !== undefined) void process.ended.then(sandbox.ended, sandbox.ended);
  const endMark = new RegExp(`\\u001e${token}:([^\\n]*)\\n?`);
  return {
    process,
    output: (from = 0) => process.output.text(from, session.cuts).replace(endMark, ''),
    printed: () => process.output.length,
    directory: () => endMark.exec(process.output.text(0, session.cuts))?.[1],
  };
}

async function sandboxFor({ session }: ToolContext): Promise<CommandSandbox | undefined> {
  const state = await session.host.sandbox();
  if (state.kind === 'on') return state.sandbox;
  if (session.host.sandboxChoice === 'required') {
    throw new ShellRefusedError(
      `Bash is refused: commands may run only in a sandbox of the operating system, and there is none here (${state.why}). Go on without it, and say in the result what could not be done.`,
    );
  }
  session.notice(`Bash runs without a sandbox of the operating system: ${state.why}.`);
  return undefined;
}

/**
 * One stream for both outputs, so that they stay in order. At its end the shell tells where it stands, on a descriptor of
 * its own, since a command may send the usual ones elsewhere. The temporary directory stays open in all that is started: by
 * it a process is found that has neither the group nor the environment of its agent any more.
 */
function scriptOf(command: string, token: string, temporary: string): string {
  return [
    `export TMPDIR=${quote(temporary)}`,
    `exec 8<${quote(temporary)} 9>&1 2>&1`,
    `trap 'printf "\\036${token}:%s\\n" "$PWD" >&9 2>/dev/null' EXIT`,
    `eval ${quote(command)}`,
  ].join('\n');
}

/** Where the last command stopped, as long as that is a directory inside the working directory. */
async function startDirectory({ cwd, session }: ToolContext): Promise<string> {
  const { shellDirectory } = session;
  if (shellDirectory !== undefined && (await isDirectoryInside(cwd, shellDirectory))) return shellDirectory;
  session.shellDirectory = undefined;
  return cwd;
}

/** Tells whether a shell may begin there. */
export async function isDirectoryInside(cwd: string, directory: string): Promise<boolean> {
  try {
    const real = await realpath(directory);
    return isInside(await realpath(cwd), real) && (await stat(real)).isDirectory();
  } catch {
    return false;
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
