import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { AgentReporter, AgentRequest } from '../../runtime/ports.ts';
import { type GroupGuardian, startGuardian } from '../process/group-guardian.ts';
import type { PermissionOptions, Permissions } from './permissions/permissions.ts';
import { RefusalNotices } from './permissions/refusals.ts';
import { openCommandSandbox, type SandboxChoice, type SandboxState } from './shell/command-sandbox.ts';
import { makeShellDirectory } from './shell/shell-directory.ts';
import { ToolSession } from './tool-session.ts';

/** Where and how the commands of agents run. */
export interface ShellOptions {
  /** Environment of commands. It should hold no secrets: agents can print it. @defaultValue a plain `PATH` */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** @defaultValue auto */
  readonly sandbox?: SandboxChoice | undefined;
  /** Hosts that commands in the sandbox may reach, such as `registry.npmjs.org` or `*.example.com`. @defaultValue none */
  readonly allowedDomains?: readonly string[] | undefined;
  /** Directory for temporary files; absolute. @defaultValue /tmp */
  readonly temporaryRoot?: string | undefined;
}

export interface ToolHostOptions {
  readonly permissions?: PermissionOptions | undefined;
  readonly shell?: ShellOptions | undefined;
}

const PLAIN_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What the tools of all agents of a backend share: what is allowed, and where commands run. */
export class ToolHost {
  readonly permissions: Permissions;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly sandboxChoice: SandboxChoice;
  /** Kills the commands of agents when this process is killed and can do nothing for them any more. */
  readonly guardian: GroupGuardian;
  readonly refusalNotices = new RefusalNotices();
  readonly #allowedDomains: readonly string[];
  readonly #open: typeof openCommandSandbox;
  readonly #temporaryRoot: string;
  #sandbox: Promise<SandboxState> | undefined;
  #directory: Promise<string> | undefined;
  #sessions = 0;

  /** @param open finds the sandbox of the machine */
  constructor(permissions: Permissions, shell: ShellOptions = {}, open = openCommandSandbox) {
    this.permissions = permissions;
    this.env = shell.env ?? { PATH: PLAIN_PATH };
    this.sandboxChoice = shell.sandbox ?? 'auto';
    this.guardian = startGuardian(this.env['PATH'] ?? PLAIN_PATH);
    this.#temporaryRoot = shell.temporaryRoot ?? '/tmp';
    this.#allowedDomains = shell.allowedDomains ?? [];
    this.#open = open;
  }

  /** The state of one attempt of one agent; to be closed when it ends. */
  openSession(request: AgentRequest, report: AgentReporter): ToolSession {
    this.#sessions += 1;
    return new ToolSession(this, this.#sessions, request, report);
  }

  /** Makes a directory for temporary files of one agent. Gone with it, or with this process. */
  async temporaryDirectory(session: number): Promise<string> {
    this.#directory ??= makeShellDirectory(this.#temporaryRoot, this.guardian);
    const directory = path.join(await this.#directory, `${session}`);
    await mkdir(directory, { mode: 0o700 });
    return directory;
  }

  /** Opens the sandbox with the first command that wants it. */
  sandbox(): Promise<SandboxState> {
    if (this.sandboxChoice === 'off') return Promise.resolve({ kind: 'none', why: 'it is switched off' });
    this.#sandbox ??= this.#openSandbox();
    return this.#sandbox;
  }

  async #openSandbox(): Promise<SandboxState> {
    const state = await this.#open(this.env['PATH'] ?? PLAIN_PATH, this.#allowedDomains);
    if (state.kind === 'on') {
      for (const pid of state.sandbox.helpers.pids) this.guardian.watchProcess(pid);
      for (const file of state.sandbox.helpers.paths) this.guardian.watchPath(file);
    }
    return state;
  }

  async close(): Promise<void> {
    const directory = await this.#directory?.catch(() => undefined);
    if (directory !== undefined) await rm(directory, { recursive: true, force: true }).catch(() => {});
    this.#directory = undefined;
    this.guardian.close();
    const state = await this.#sandbox;
    this.#sandbox = undefined;
    if (state?.kind === 'on') await state.sandbox.close();
  }
}
