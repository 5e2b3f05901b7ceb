import { createAgent } from './agent.ts';
import { type Budget, createBudget } from './budget.ts';
import type { Calls } from './calls.ts';
import type { FanOut } from './fan-out.ts';
import { createConsole, createLog, type Log } from './log.ts';
import type { Outbox } from './outbox.ts';
import { createParallel } from './parallel.ts';
import type { HelperContext } from './parts.ts';
import { createPhase } from './phase.ts';
import { createPipeline } from './pipeline.ts';
import { freeze } from './primordials.ts';
import type { Workflow } from './scope.ts';
import { createWorkflow, type NestedCall } from './workflow.ts';

/** What all workflows of a run share. */
export interface Shared {
  readonly outbox: Outbox;
  readonly calls: Calls;
  readonly log: Log;
  readonly budget: Budget;
  readonly logFunction: (...values: unknown[]) => void;
  readonly console: object;
  readonly nested: Map<number, NestedCall>;
  readonly failures: { told: number };
  readonly phaseChanges: { told: number };
  readonly fanOut: FanOut;
  readonly maxDepth: number;
}

export function createShared(
  parts: Pick<Shared, 'outbox' | 'calls' | 'log' | 'fanOut' | 'maxDepth'>,
  budgetTotal: number | null,
  spentSoFar: () => number,
): Shared {
  return {
    ...parts,
    budget: createBudget(budgetTotal, spentSoFar),
    logFunction: freeze(createLog(parts.log)),
    console: createConsole(parts.log),
    nested: new Map(),
    failures: { told: 0 },
    phaseChanges: { told: 0 },
  };
}

/** The functions that one workflow is given, in the order of its program's parameters; `args` and `meta` follow. */
export function createGlobals(workflow: Workflow, shared: Shared): Readonly<Record<string, unknown>> {
  const { outbox, calls, log, fanOut, failures } = shared;
  const context: HelperContext = { workflow, outbox, log, fanOut, failures };
  return {
    agent: freeze(createAgent(workflow, calls, outbox)),
    parallel: freeze(createParallel(context)),
    pipeline: freeze(createPipeline(context)),
    phase: freeze(createPhase(workflow, outbox, shared.phaseChanges)),
    log: shared.logFunction,
    workflow: freeze(createWorkflow(workflow, calls, outbox, shared.nested, shared.maxDepth)),
    budget: shared.budget,
    console: shared.console,
  };
}
