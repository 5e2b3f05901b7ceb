import { realpath, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentReporter, AgentRequest } from '../../runtime/ports.ts';
import { type Cuts, cutsOf } from '../cuts.ts';
import { MARK_VARIABLE } from '../process/group-guardian.ts';
import type { FileStamp } from './files/text-file.ts';
import { Refusals } from './permissions/refusals.ts';
import type { ShellProcess } from './shell/shell-process.ts';
import type { StartedShell } from './shell/start-shell.ts';
import { killMarkedProcesses } from './shell/stray-processes.ts';
import type { ToolHost } from './tool-host.ts';

/** An agent's tools are gone this long after its end. */
const CLOSE_MS = 1_200;

/** A command that runs while its agent goes on. */
export interface BackgroundCommand {
  readonly id: string;
  readonly command: string;
  readonly shell: StartedShell;
  /** Characters of its output that the agent has seen. */
  seen: number;
}

/** What the tools of one agent keep between its calls, and what must end with it. */
export class ToolSession {
  readonly host: ToolHost;
  readonly agent: Pick<AgentRequest, 'agentId' | 'label' | 'phase' | 'run'>;
  /** Calls of this agent that nobody was there to allow. */
  readonly refusals = new Refusals();
  /** Files that the agent has read or written, by real path, as they were then. */
  readonly seen = new Map<string, FileStamp | undefined>();
  /** Files outside the working directory that the agent was pointed at and may read. */
  readonly kept = new Set<string>();
  readonly background = new Map<string, BackgroundCommand>();
  /** Where the next command starts; undefined for the working directory. */
  shellDirectory: string | undefined;
  /** In the environment of every command; by it those that escaped their group are found. */
  readonly mark: { readonly name: string; readonly value: string };
  readonly #number: number;
  readonly #report: AgentReporter;
  readonly #shells = new Set<ShellProcess>();
  readonly #running = new Set<Promise<unknown>>();
  /** A sandbox too leaves something behind when it is killed while it is being set up. */
  #mayHaveStrays = false;
  #closed = false;
  #temporary: Promise<string> | undefined;

  /** @param number tells it from the other sessions of the host */
  constructor(host: ToolHost, number: number, agent: AgentRequest, report: AgentReporter) {
    this.host = host;
    this.#number = number;
    this.mark = { name: MARK_VARIABLE, value: `${host.guardian.token}/${number}` };
    this.agent = agent;
    this.#report = report;
  }

  /** Runs a tool, so that {@link close} waits for it. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const running = work();
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  /** Takes care that a shell dies with the agent. */
  adopt(shell: ShellProcess): void {
    this.#shells.add(shell);
    if (shell.group !== undefined) this.host.guardian.watch(shell.group);
    this.#mayHaveStrays = true;
    if (this.#closed) void shell.kill();
  }

  /** Forgets a shell that has ended, if it left nothing behind. */
  async release(shell: ShellProcess): Promise<void> {
    if (await shell.isAlive()) return;
    this.#shells.delete(shell);
    this.#unwatch(shell);
  }

  /** What tools shorten texts by. */
  get cuts(): Cuts {
    return cutsOf(this.#report);
  }

  /** Says something to people, once a run. */
  notice(text: string): void {
    this.#report.warn?.(text);
  }

  /**
   * Keeps a long output with the run, without the secrets in it, and lets the agent read it.
   *
   * @returns its absolute path; undefined where runs keep no files
   */
  async keep(name: string, text: string): Promise<string | undefined> {
    const file = await this.#report.keepFile?.(name, text).catch(() => undefined);
    if (file !== undefined) this.kept.add(await realpath(file));
    return file;
  }

  /** A directory for temporary files of this agent's commands; gone with it. */
  temporaryDirectory(): Promise<string> {
    this.#temporary ??= this.host.temporaryDirectory(this.#number);
    return this.#temporary;
  }

  #unwatch({ group }: ShellProcess): void {
    if (group !== undefined) this.host.guardian.release(group);
  }

  #sayRefusals(): void {
    const text = this.refusals.text(this.agent.label, this.cuts);
    if (text === undefined) return;
    const said = this.host.refusalNotices.next(this.agent.run?.runId ?? '', text);
    if (said !== undefined) this.notice(said);
  }

  /** Ends every process of the agent and waits for the tools under way. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#sayRefusals();
    const ends = [...this.#shells].map((shell) => shell.kill());
    await Promise.race([Promise.allSettled([...this.#running, ...ends]), unheld(CLOSE_MS)]);
    await Promise.all([...this.#shells].map((shell) => shell.kill()));
    for (const shell of this.#shells) this.#unwatch(shell);
    if (this.#mayHaveStrays) await killMarkedProcesses(this.mark.name, this.mark.value);
    const temporary = await this.#temporary?.catch(() => undefined);
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true }).catch(() => {});
  }
}

/** A wait that keeps no process from ending. */
function unheld(ms: number): Promise<void> {
  return delay(ms, undefined, { ref: false });
}
