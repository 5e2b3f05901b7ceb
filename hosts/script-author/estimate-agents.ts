import { createSimulatedBackend } from '../../agents/simulated/simulated-backend.ts';
import type { PhaseSummary } from '../../protocol/run-summary.ts';
import { createRunSummary } from '../../protocol/run-summary.ts';
import { createMemoryRunStore } from '../../runtime/rehearse/memory-run-store.ts';
import type { WorkflowOptions } from '../../runtime/run-options.ts';
import type { ParsedScript } from '../../runtime/script/parse-script.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';

/** How many agents a script is likely to start. */
export interface AgentEstimate {
  readonly agents: number;
  /** In the order of the phases; without those that had none. */
  readonly phases: readonly { readonly title: string; readonly agents: number }[];
  /** False when the rehearsal did not get to the end, so that there may be any number more. */
  readonly complete: boolean;
}

const REHEARSAL_MS = 10_000;
const REHEARSAL_CPU_MS = 3_000;
const REHEARSAL_AGENTS = 1_000;

/**
 * Rehearses a script with made-up answers, in memory, and counts the agents that it starts. What a model would answer may
 * lead to more or fewer.
 */
export async function estimateAgents(
  script: ParsedScript,
  argsJson: string | undefined,
  options: Pick<WorkflowOptions, 'cwd' | 'findWorkflow'>,
): Promise<AgentEstimate> {
  const store = createMemoryRunStore();
  const summary = createRunSummary();
  const ofPhase = new Map<number, number>();
  store.listen({
    onEvent(event) {
      summary.apply(event);
      if (event.type !== 'agent.queued') return;
      const { phaseIndex = 0 } = event.data;
      ofPhase.set(phaseIndex, (ofPhase.get(phaseIndex) ?? 0) + 1);
    },
  });
  const handle = await startWorkflow({
    ...options,
    store,
    backend: createSimulatedBackend(),
    script: script.source,
    fileName: script.fileName,
    argsJson,
    transcripts: false,
    limits: { timeoutMs: REHEARSAL_MS, cpuLimitMs: REHEARSAL_CPU_MS, maxAgents: REHEARSAL_AGENTS },
  });
  const { output } = await handle.done;
  const counted = (phase: PhaseSummary) => ({ title: phase.title, agents: ofPhase.get(phase.index) ?? 0 });
  return {
    agents: output.census.agent_count,
    phases: summary.phases.map(counted).filter(({ agents }) => agents > 0),
    complete: output.status === 'completed',
  };
}
