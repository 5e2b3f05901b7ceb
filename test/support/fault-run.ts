import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk } from '../../cache/disk.ts';
import type { ProcessTable } from '../../cache/process-table.ts';
import { createRunStore } from '../../cache/run-store.ts';
import type { AgentBackend } from '../../runtime/ports.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import type { RunHandle, RunResult } from '../../runtime/run-options.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';
import type { FaultSwitch } from '../fault/fault-points.ts';
import { type Ask, FaultSandbox } from './fault-sandbox.ts';

const SCRIPT = "export const meta = { name: 'fault', description: 'is struck down' }\nreturn 1\n";

/** Calls of the script, by scope. The last two have one prompt and places of their own. */
export const FAULT_CALLS = 6;

async function script(ask: Ask): Promise<unknown> {
  const firsts = await Promise.all([0, 1, 2].map((i) => ask(`first ${i}`, `/parallel:0/item:${i}`)));
  const second = await ask(`after ${firsts.join()}`, '');
  const judges = await Promise.all([0, 1].map((i) => ask('judge', `/parallel:1/item:${i}`)));
  return { firsts, second, judges };
}

/** A world in which processes with made-up pids run one workflow, one after another or at once. */
export class FaultWorld {
  readonly root: string;
  /** Answers that some script has seen. */
  readonly seen = new Set<unknown>();
  /** Prompts that were sent to the model, by the serial number of the answer. */
  readonly sent: string[] = [];
  readonly #alive = new Set<number>();
  #pids = 0;

  constructor(root: string) {
    this.root = root;
  }

  get runId(): string | undefined {
    const runs = join(this.root, 'runs');
    return existsSync(runs) ? readdirSync(runs).find((name) => existsSync(join(runs, name, 'run.json'))) : undefined;
  }

  get runPath(): string {
    return join(this.root, 'runs', this.runId ?? 'none');
  }

  /** Starts the run, or resumes it where it is stored, in a process of its own. */
  async launch(disk: Disk, faults?: FaultSwitch, takeOver = false, answered?: Promise<void>): Promise<RunHandle> {
    this.#pids += 1;
    const pid = this.#pids;
    this.#alive.add(pid);
    const { runId } = this;
    const options = {
      store: createRunStore({ root: this.root, disk, processes: this.#processes(pid) }),
      backend: this.#backend(faults, answered),
      concurrency: 2,
      transcripts: false,
      sandbox: new FaultSandbox({
        script,
        beforeAnswer: () => faults?.pass('before', 'send answer', 'script'),
        afterAnswer: (value) => {
          this.seen.add(value);
          faults?.pass('after', 'send answer', 'script');
        },
      }),
    };
    return runId === undefined
      ? startWorkflow({ ...options, script: SCRIPT })
      : resumeWorkflow({ ...options, runId, takeOver });
  }

  /** Lets a launch end, struck or not; then its process is dead. */
  async end(launch: Promise<RunHandle>): Promise<RunResult | undefined> {
    const result = await launch.then(({ done }) => done).catch(() => undefined);
    this.#alive.clear();
    return result;
  }

  #processes(pid: number): ProcessTable {
    return {
      self: { host: 'here', pid, startedAt: `boot:${pid}` },
      stateOf: (identity) => (this.#alive.has(identity.pid) ? 'alive' : 'dead'),
    };
  }

  #backend(faults: FaultSwitch | undefined, answered: Promise<void> | undefined): AgentBackend {
    return {
      name: 'counting',
      defaultConcurrency: 2,
      canRejoin: false,
      simulated: false,
      model: undefined,
      run: async ({ prompt }) => {
        faults?.pass('before', 'send request', 'model');
        const serial = this.sent.push(prompt) - 1;
        faults?.pass('after', 'send request', 'model');
        await answered;
        const valueJson = JSON.stringify(`#${serial} ${prompt.slice(0, 40)}`);
        return { valueJson, empty: false, usage: { inputTokens: 1, outputTokens: 1 }, toolUses: 0, attempts: 0 };
      },
      close: async () => {},
    };
  }
}
