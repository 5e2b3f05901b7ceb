import { spawn } from 'node:child_process';
import { devNull } from 'node:os';

export interface GitEnd {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** Without white space around it. */
  readonly stderr: string;
}

/** Runs git in a directory. Rejects only when git cannot be started there. */
export interface Git {
  (cwd: string, ...args: readonly string[]): Promise<GitEnd>;
  /** The same git, started by a program that gets its command line after its own arguments. */
  through(program: string, ...args: readonly string[]): Git;
}

/** Characters of an output that are kept. */
const MAX_OUTPUT = 1024 * 1024;
/** What git says when another process holds one of its locks. */
const LOCKED = /lock.*: File exists|another git process/is;
const LOCK_RETRIES = 8;
const FIRST_DELAY_MS = 25;

/** Variables by which git would take another repository than the one of its directory. */
const PLACE_VARIABLES =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|PREFIX|NAMESPACE|INTERNAL_.*|IMPLICIT_WORK_TREE|GRAFT_FILE|SHALLOW_FILE|QUARANTINE_PATH)$/;

/**
 * Makes a {@link Git}.
 *
 * Contract:
 * - It speaks English, asks nobody anything, and takes no optional locks. Hooks of the repository are not run: a tree is made
 *   and removed as quietly as a temporary directory.
 * - It is in a process group of its own, so that a Ctrl-C which ends the run does not tear it in the middle.
 * - What fails on a lock that another process holds is tried again, with growing delays.
 */
export function createGit(env: Readonly<Record<string, string | undefined>>): Git {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !PLACE_VARIABLES.test(name)));
  const gitEnv = { ...own, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
  return gitStartedBy([], gitEnv);
}

function gitStartedBy(starter: readonly string[], env: Readonly<Record<string, string>>): Git {
  const git = async (cwd: string, ...args: readonly string[]): Promise<GitEnd> => {
    for (let attempt = 0; ; attempt += 1) {
      const end = await runOnce(cwd, [...starter, 'git', '-c', `core.hooksPath=${devNull}`, ...args], env);
      if (end.exitCode === 0 || attempt >= LOCK_RETRIES || !LOCKED.test(end.stderr)) return end;
      await pause(FIRST_DELAY_MS * 2 ** Math.min(attempt, 5) * (0.5 + Math.random()));
    }
  };
  return Object.assign(git, { through: (...program: readonly string[]) => gitStartedBy(program, env) });
}

function runOnce(cwd: string, command: readonly string[], env: Readonly<Record<string, string>>): Promise<GitEnd> {
  return new Promise((resolve, reject) => {
    const [program = '', ...args] = command;
    const child = spawn(program, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < MAX_OUTPUT) stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < MAX_OUTPUT) stderr += text;
    });
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr: stderr.trim() }));
  });
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
