import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool, type ToolContext, type ToolOutput } from '../agent-tool.ts';
import { isLongOutput, plainOutput, shownOutput } from './output-buffer.ts';
import type { ShellEnd } from './shell-process.ts';
import { isDirectoryInside, ShellRefusedError, type StartedShell, startShell } from './start-shell.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const LONGEST_TIMEOUT_MS = 600_000;
/** Below what Linux takes as one argument, with room for the sandbox's own words. */
const LONGEST_COMMAND_BYTES = 60_000;
/** Processes that an agent may have in the background at once. */
const MOST_IN_BACKGROUND = 16;

const bashInput = z.object({
  command: z.string().min(1).describe('What bash runs'),
  timeout: z
    .int()
    .min(1)
    .max(LONGEST_TIMEOUT_MS)
    .optional()
    .describe(`Time limit in milliseconds; ${DEFAULT_TIMEOUT_MS} when left out`),
  description: z.string().optional().describe('What it does, in a few words'),
  run_in_background: z.boolean().optional().describe('Returns at once; read the output with BashOutput'),
});

type BashInput = z.infer<typeof bashInput>;

/** Runs a command in the working directory, in the machine's sandbox where there is one. Source: spec. */
export const bashTool = defineTool({
  name: 'Bash',
  description:
    'Runs a command with bash and gives what it printed and its exit code. It starts in the working directory, or where the last command stopped; variables are not kept. There is no terminal and no input. Whatever still runs is ended with you; a process started with & may end with its call, so use run_in_background for servers and long work. In a sandbox only the working directory and $TMPDIR can be written, and the network is closed.',
  access: 'execute',
  input: bashInput,
  async subject({ command }) {
    return { command };
  },
  async run(input, context) {
    const { command, run_in_background: background = false } = input;
    if (command.includes('\0')) return failed('A command cannot hold a NUL character.');
    if (Buffer.byteLength(command) > LONGEST_COMMAND_BYTES) {
      return failed(`The command is longer than ${LONGEST_COMMAND_BYTES} bytes. Write it to a file and run that.`);
    }
    if (background && running(context) >= MOST_IN_BACKGROUND) {
      return failed(`${MOST_IN_BACKGROUND} commands run in the background already. Stop one with BashOutput first.`);
    }
    try {
      const shell = await startShell(command, context);
      return background ? goOn(input, shell, context) : await finish(input, shell, context);
    } catch (error) {
      if (error instanceof ShellRefusedError) return failed(error.message);
      throw error;
    }
  },
});

async function finish(input: BashInput, shell: StartedShell, context: ToolContext): Promise<ToolOutput> {
  const { timeout = DEFAULT_TIMEOUT_MS } = input;
  const { signal, session } = context;
  const { process } = shell;
  const timer = new AbortController();
  const late = delay(timeout, 'late' as const, { signal: AbortSignal.any([signal, timer.signal]) });
  try {
    const end = await Promise.race([process.ended, late]);
    if (end !== 'late') return await report(shell, end, context);
    await process.kill();
    const text = await shown(shell.output(), context);
    const limit = `[ended after its time limit of ${timeout} ms; give a longer timeout, or use run_in_background]`;
    return { text: joined(text, limit), isError: true, summary: 'ended after its time limit' };
  } catch (error) {
    await process.kill();
    throw error;
  } finally {
    timer.abort();
    await late.catch(() => {});
    await session.release(process);
  }
}

async function report(shell: StartedShell, end: ShellEnd, context: ToolContext): Promise<ToolOutput> {
  const { exitCode } = end;
  const notes: string[] = [];
  if (exitCode !== 0) notes.push(exitCode === undefined ? `[ended by ${end.signal}]` : `[exit code ${exitCode}]`);
  const moved = await follow(shell.directory(), context);
  if (moved !== undefined) notes.push(moved);
  if (await shell.process.isAlive()) notes.push('[what it started in the background goes on until you are done]');
  const text = joined(await shown(shell.output(), context), ...notes);
  return {
    text: text === '' ? '[no output, exit code 0]' : text,
    isError: exitCode !== 0,
    summary: exitCode === undefined ? `ended by ${end.signal}` : `exit code ${exitCode}`,
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

/** Keeps the directory for the next command, unless the shell went out of the working directory. */
async function follow(directory: string | undefined, { cwd, session }: ToolContext): Promise<string | undefined> {
  if (directory === undefined) return undefined;
  if (await isDirectoryInside(cwd, directory)) {
    session.shellDirectory = directory;
    return undefined;
  }
  session.shellDirectory = undefined;
  return `[the next command starts in the working directory again: ${directory} is outside of it]`;
}

async function shown(output: string, { session }: ToolContext): Promise<string> {
  const plain = plainOutput(output);
  const file = isLongOutput(plain) ? await session.keep('bash', plain) : undefined;
  return shownOutput(plain, file, session.cuts);
}

function goOn({ command, timeout }: BashInput, shell: StartedShell, { session }: ToolContext): ToolOutput {
  const id = `bash_${session.background.size + 1}`;
  session.background.set(id, { id, command, shell, seen: 0 });
  if (timeout !== undefined) {
    const timer = setTimeout(() => void shell.process.kill(), timeout);
    shell.process.ended.then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
  }
  return {
    text: `Started in the background as ${id}. Read what it prints, wait for it or stop it with BashOutput.`,
    isError: false,
    summary: `started ${id}`,
  };
}

function running({ session }: ToolContext): number {
  return [...session.background.values()].filter(({ shell }) => shell.process.end === undefined).length;
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}

function failed(text: string): ToolOutput {
  return { text, isError: true };
}
