import { type ChildProcess, execFile } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** Whether commands run in a sandbox of the operating system: where there is one, or else not at all, or never. */
export type SandboxChoice = 'auto' | 'required' | 'off';

/** What commands may touch. */
export interface SandboxBounds {
  /** Directories in which they may write; absolute and real. */
  readonly writable: readonly string[];
  /** Paths in those that stay as they are. */
  readonly readOnly: readonly string[];
}

/** Runs commands within bounds that the operating system keeps. */
export interface CommandSandbox {
  /** Gives the command, for `/bin/bash -c`, that runs this one within the bounds. */
  wrap(command: string, bounds: SandboxBounds, signal: AbortSignal): Promise<string>;
  /** What it started and made, which must not outlive this process. */
  readonly helpers: SandboxHelpers;
  /** To be called once after each wrapped command has ended. */
  ended(): void;
  close(): Promise<void>;
}

export interface SandboxHelpers {
  readonly pids: readonly number[];
  readonly paths: readonly string[];
}

export type SandboxState =
  | { readonly kind: 'on'; readonly sandbox: CommandSandbox }
  /** Why there is none, as part of a sentence. */
  | { readonly kind: 'none'; readonly why: string };

/** Where programs keep what gives access to other machines; commands in the sandbox cannot read it. */
const CREDENTIAL_PLACES = [
  '~/.ssh',
  '~/.aws',
  '~/.azure',
  '~/.gnupg',
  '~/.kube',
  '~/.netrc',
  '~/.git-credentials',
  '~/.docker/config.json',
  '~/.config/gh',
  '~/.config/gcloud',
];
const LINUX_PROGRAMS = ['bwrap', 'socat', 'rg'];
const PROBE_MS = 10_000;

/**
 * Opens the sandbox of this machine: bubblewrap on Linux, Seatbelt on macOS, through `@anthropic-ai/sandbox-runtime`, which
 * is loaded only where its programs are there. Source: spec A-29.
 *
 * Contract: it is tried with one command before it is said to be there, since containers often forbid what it needs.
 *
 * @param searchPath directories of programs, as in `PATH`
 * @param allowedDomains hosts that commands may reach; none when empty
 */
export async function openCommandSandbox(searchPath: string, allowedDomains: readonly string[]): Promise<SandboxState> {
  const missing = await missingPrograms(searchPath);
  if (missing !== undefined) return { kind: 'none', why: missing };
  try {
    const sandbox = await openRuntime(allowedDomains);
    const fault = await probe(sandbox, searchPath);
    if (fault === undefined) return { kind: 'on', sandbox };
    await sandbox.close();
    return { kind: 'none', why: `this machine does not let it work (${fault})` };
  } catch (error) {
    return { kind: 'none', why: oneLine(error instanceof Error ? error.message : String(error)) };
  }
}

/**
 * Bounds for the commands of one agent: its working directory, and where that is a git worktree, what git itself must write
 * outside of it; never what makes git run programs.
 */
export async function boundsOf(cwd: string, temporaryDirectory: string): Promise<SandboxBounds> {
  const root = await realpath(cwd);
  const common = await commonGitDirectory(root);
  const git = common ?? path.join(root, '.git');
  const steering = [
    path.join(git, 'hooks'),
    path.join(git, 'config'),
    path.join(git, 'info', 'attributes'),
    ...['.wf', '.claude', '.codebuddy', '.mcp.json'].map((name) => path.join(root, name)),
  ];
  const present = await Promise.all(steering.map(async (file) => ((await isThere(file)) ? [file] : [])));
  return { writable: [root, temporaryDirectory, ...(common === undefined ? [] : [common])], readOnly: present.flat() };
}

/** The `.git` of the repository that a linked worktree belongs to, if both know of each other; undefined elsewhere. */
async function commonGitDirectory(root: string): Promise<string | undefined> {
  try {
    const link = path.join(root, '.git');
    if (!(await stat(link)).isFile()) return undefined;
    const own = /^gitdir: (.*)$/m.exec(await readFile(link, 'utf8'))?.[1];
    if (own === undefined) return undefined;
    const directory = await realpath(path.resolve(root, own));
    const back = (await readFile(path.join(directory, 'gitdir'), 'utf8')).trim();
    if ((await realpath(path.resolve(directory, back))) !== link) return undefined;
    const common = (await readFile(path.join(directory, 'commondir'), 'utf8')).trim();
    return await realpath(path.resolve(directory, common));
  } catch {
    return undefined;
  }
}

async function missingPrograms(searchPath: string): Promise<string | undefined> {
  if (process.platform === 'darwin') return undefined;
  if (process.platform !== 'linux') return `there is none for ${process.platform}`;
  const directories = searchPath.split(path.delimiter).filter((directory) => directory !== '');
  const found = await Promise.all(
    LINUX_PROGRAMS.map(async (name) => {
      const places = directories.map((directory) => access(path.join(directory, name), constants.X_OK));
      return Promise.any(places).then(
        () => true,
        () => false,
      );
    }),
  );
  const missing = LINUX_PROGRAMS.filter((_, index) => found[index] !== true);
  if (missing.length === 0) return undefined;
  return `it needs ${missing.join(', ')}, which ${missing.length === 1 ? 'is' : 'are'} not installed (Debian: apt install bubblewrap socat ripgrep)`;
}

type Manager = typeof import('@anthropic-ai/sandbox-runtime')['SandboxManager'];

interface Runtime {
  readonly manager: Manager;
  readonly helpers: SandboxHelpers;
}

/** The library has one sandbox a process, however many runs use it. */
let runtimeUsers = 0;
let runtime: Promise<Runtime> | undefined;

async function openRuntime(allowedDomains: readonly string[]): Promise<CommandSandbox> {
  runtimeUsers += 1;
  runtime ??= startRuntime(allowedDomains);
  let started: Runtime;
  try {
    started = await runtime;
  } catch (error) {
    runtimeUsers -= 1;
    runtime = undefined;
    throw error;
  }
  const { manager, helpers } = started;
  let open = true;
  return {
    helpers,
    wrap: (command, { writable, readOnly }, signal) =>
      manager.wrapWithSandbox(
        command,
        '/bin/bash',
        {
          filesystem: { allowWrite: [...writable], denyWrite: [...readOnly], denyRead: CREDENTIAL_PLACES },
          network: { allowedDomains: [...allowedDomains], deniedDomains: [] },
        },
        signal,
      ),
    ended: () => manager.cleanupAfterCommand(),
    async close() {
      if (!open) return;
      open = false;
      runtimeUsers -= 1;
      if (runtimeUsers > 0) return;
      runtime = undefined;
      await manager.reset();
    },
  };
}

/** The library listens for signals, and a host that does not would no longer end at the first one: we reset it ourselves. */
async function startRuntime(allowedDomains: readonly string[]): Promise<Runtime> {
  const { SandboxManager } = await import('@anthropic-ai/sandbox-runtime');
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const before = signals.map((signal) => process.listeners(signal));
  const started: ChildProcess[] = [];
  const note = (message: unknown): void => void started.push((message as { readonly process: ChildProcess }).process);
  subscribe('child_process', note);
  try {
    await SandboxManager.initialize({
      network: { allowedDomains: [...allowedDomains], deniedDomains: [] },
      filesystem: { denyRead: CREDENTIAL_PLACES, allowWrite: [], denyWrite: [] },
    });
  } finally {
    unsubscribe('child_process', note);
  }
  for (const [index, signal] of signals.entries()) {
    for (const listener of process.listeners(signal)) {
      if (before[index]?.includes(listener) !== true) process.removeListener(signal, listener);
    }
  }
  const relays = started.filter(({ spawnfile, exitCode }) => path.basename(spawnfile) === 'socat' && exitCode === null);
  const sockets = [SandboxManager.getLinuxHttpSocketPath(), SandboxManager.getLinuxSocksSocketPath()];
  return {
    manager: SandboxManager,
    helpers: {
      pids: relays.flatMap(({ pid }) => pid ?? []),
      paths: sockets.filter((file) => file !== undefined),
    },
  };
}

/** Runs one command; gives what went wrong. */
async function probe(sandbox: CommandSandbox, searchPath: string): Promise<string | undefined> {
  try {
    const command = await sandbox.wrap('true', { writable: [], readOnly: [] }, AbortSignal.timeout(PROBE_MS));
    await promisify(execFile)('/bin/bash', ['-c', command], { timeout: PROBE_MS, env: { PATH: searchPath }, cwd: '/' });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    return oneLine(stderr?.trim() || message);
  } finally {
    sandbox.ended();
  }
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 300);
}
