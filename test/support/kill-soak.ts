import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRunStore } from '../../cache/run-store.ts';
import type { AgentBackend } from '../../runtime/ports.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import type { RunResult } from '../../runtime/run-options.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';

export interface SoakOptions {
  /** State directory. */
  readonly root: string;
  /** Runs at once, all in this process. */
  readonly runs: number;
  readonly agentsARun: number;
}

/** What this process holds at one moment, after a garbage collection where that can be asked for. */
export interface Holdings {
  readonly heapMb: number;
  readonly rssMb: number;
  readonly descriptors: number;
  /** What keeps the event loop busy, sorted: timers, pipes, processes. */
  readonly resources: readonly string[];
}

/** Waves of parallel agents, so that a run of any length keeps few calls open. */
const SCRIPT = `export const meta = { name: 'soak', description: 'many agents' }
let last = ''
for (let done = 0; done < args.agents; done += 500) {
  const wave = Math.min(500, args.agents - done)
  const texts = await parallel(Array.from({ length: wave }, (_, i) => () => agent('agent ' + (done + i))))
  last = texts.at(-1)
}
return last
`;

const instant: AgentBackend = {
  name: 'instant',
  defaultConcurrency: 64,
  canRejoin: false,
  simulated: false,
  model: undefined,
  run: async ({ prompt }) => ({
    valueJson: JSON.stringify(`${prompt} is done`),
    empty: false,
    usage: { inputTokens: 1, outputTokens: 1 },
    toolUses: 0,
    attempts: 0,
  }),
  close: async () => {},
};

/** Runs the workflow many times at once, to the end. @throws when one of them does not complete */
export async function soak({ root, runs, agentsARun }: SoakOptions): Promise<readonly RunResult[]> {
  const options = {
    store: createRunStore({ root }),
    backend: instant,
    script: SCRIPT,
    argsJson: JSON.stringify({ agents: agentsARun }),
    limits: { maxAgents: agentsARun },
    transcripts: false,
  };
  const handles = await Promise.all(Array.from({ length: runs }, () => startWorkflow(options)));
  const results = await Promise.all(handles.map(({ done }) => done));
  for (const result of results) requireLast(result, agentsARun);
  return results;
}

/** Resumes a finished run, which answers every call from its journal. Gives the milliseconds it took. */
export async function resumeFinished(root: string, runId: string, agentsARun: number): Promise<number> {
  const backend = { ...instant, run: () => Promise.reject(new Error('a finished call ran again')) };
  const limits = { maxAgents: agentsARun };
  const from = performance.now();
  const handle = await resumeWorkflow({ runId, store: createRunStore({ root }), backend, limits, transcripts: false });
  requireLast(await handle.done, agentsARun);
  return performance.now() - from;
}

function requireLast({ resultJson, error }: RunResult, agentsARun: number): void {
  const wanted = JSON.stringify(`agent ${agentsARun - 1} is done`);
  if (resultJson !== wanted) throw new Error(`a run gave ${resultJson} for ${wanted}: ${error?.message}`);
}

export async function holdings(): Promise<Holdings> {
  // Closed pipes and ended processes leave in the turns after their end.
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve, 20));
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return {
    heapMb: heapUsed / 2 ** 20,
    rssMb: rss / 2 ** 20,
    descriptors: readdirSync(join('/proc/self/fd')).length,
    resources: process.getActiveResourcesInfo().sort(),
  };
}
