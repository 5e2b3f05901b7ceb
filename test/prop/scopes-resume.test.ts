import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentBackend } from '../../runtime/ports.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import type { RunHandle, RunResult, WorkflowOptions } from '../../runtime/run-options.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';
import { temporaryStore } from '../support/temporary-store.ts';
import { randomScript, seededNumbers } from './random-script.ts';

/** `WF_PROP_RUNS` asks for more scripts, `WF_PROP_SEED` for others. */
const SCRIPTS = Number(process.env.WF_PROP_RUNS ?? 300);
const FIRST_SEED = Number(process.env.WF_PROP_SEED ?? 1);
const AT_ONCE = 4;
const NEVER = Number.POSITIVE_INFINITY;

const store = temporaryStore();

/** What a launch did. */
interface Launch {
  readonly runId: string;
  readonly result: RunResult;
  /** Labels of the agents that it started. */
  readonly started: readonly string[];
  /** Labels of all results that the journal holds after it. */
  readonly stored: readonly string[];
}

type Random = () => number;

/** Answers each agent with its label and a number, after as many turns of the event loop as the random numbers say. */
function randomBackend(random: Random, started: string[], onAnswer: (count: number) => void): AgentBackend {
  let answers = 0;
  return {
    name: 'random',
    defaultConcurrency: 16,
    canRejoin: false,
    simulated: true,
    model: undefined,
    async run({ label }) {
      started.push(label);
      for (let turns = Math.floor(random() ** 2 * 20); turns > 0; turns -= 1) await new Promise(setImmediate);
      if (label.includes('!') && random() < 0.4) throw new WorkflowError('AGENT_NO_OUTPUT', 'There was no output.');
      answers += 1;
      onAnswer(answers);
      const usage = { inputTokens: 1, outputTokens: 1 };
      return { valueJson: JSON.stringify(`${label}#${answers}`), empty: false, usage, toolUses: 0, attempts: 0 };
    },
    close: async () => {},
  };
}

async function launch(
  random: Random,
  killAfter: number,
  child: string,
  start: (options: WorkflowOptions) => Promise<RunHandle>,
): Promise<Launch> {
  const started: string[] = [];
  let handle: RunHandle | undefined;
  const handleReady = start({
    store,
    backend: randomBackend(random, started, (count) => count === killAfter && setImmediate(() => handle?.stop())),
    concurrency: 1 + Math.floor(random() * 16),
    transcripts: false,
    limits: { maxRetries: 0 },
    findWorkflow: async () => ({ text: child, fileName: 'child.js', path: '/nowhere/child.js' }),
  });
  handle = await handleReady;
  const result = await handle.done;
  return { runId: handle.runId, result, started, stored: storedLabels(handle.directory) };
}

function storedLabels(directory: string): readonly string[] {
  const rows = readFileSync(join(directory, 'journal.jsonl'), 'utf8').trim().split('\n');
  return rows
    .map((row) => JSON.parse(row) as { readonly type: string; readonly result: string })
    .filter(({ type }) => type === 'result')
    .map(({ result }) => result.slice(0, result.lastIndexOf('#')));
}

/** Kills a script at up to two random points and lets it end; says what went wrong, with the seed. */
async function tryScript(seed: number): Promise<readonly string[]> {
  const { text, child } = randomScript(seed);
  const random = seededNumbers(-seed);
  const faults: string[] = [];
  const launches: Launch[] = [];
  const check = (next: Launch): void => {
    const before = launches.at(-1)?.stored ?? [];
    const again = next.started.filter((label) => before.includes(label));
    if (again.length > 0) faults.push(`seed ${seed}, launch ${launches.length + 1}: ran again: ${again.join(' ')}`);
    launches.push(next);
  };
  check(
    await launch(random, Math.floor(random() ** 2 * 50), child, (options) =>
      startWorkflow({ ...options, script: text }),
    ),
  );
  const { runId } = launches[0] as Launch;
  const resume = (options: WorkflowOptions) => resumeWorkflow({ ...options, runId });
  if (random() < 0.3) check(await launch(random, Math.floor(random() * 10), child, resume));
  check(await launch(random, NEVER, child, resume));
  const { result, stored } = launches.at(-1) as Launch;
  if (result.resultJson !== '[]') {
    faults.push(`seed ${seed}: ${result.error?.message ?? `answers of others: ${result.resultJson}`}`);
  }
  if (new Set(stored).size !== stored.length) faults.push(`seed ${seed}: a call has two results`);
  return faults;
}

describe('scopes on resume', () => {
  it(
    `no finished call runs again and every call gets its own answer, in ${SCRIPTS} random scripts killed at random (R-23)`,
    async () => {
      const faults: string[] = [];
      let next = FIRST_SEED;
      const work = async (): Promise<void> => {
        while (next < FIRST_SEED + SCRIPTS && faults.length < 5) faults.push(...(await tryScript(next++)));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      expect(faults, `run again with WF_PROP_SEED=<seed> WF_PROP_RUNS=1`).toEqual([]);
    },
    SCRIPTS * 5_000,
  );
});
