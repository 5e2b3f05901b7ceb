import type { AgentBackend } from '../../runtime/ports.ts';
import { type AgentTypes, BUILT_IN_AGENT_TYPES, findAgentType } from '../agent-types.ts';
import type { StepBoard } from './step-board.ts';

/** Steps that may wait for the connected agent at one time, at most. */
export const MOST_PENDING = 256;

export interface HostBackendOptions {
  /** Gives the steps of the run that this backend serves; asked when the first agent starts. */
  readonly board: () => StepBoard;
  /** @defaultValue the built-in types */
  readonly agentTypes?: AgentTypes;
}

/**
 * Lets the connected agent do the work of each call: no key is needed. Source: spec A-27, H-12 to H-16.
 *
 * Contract: serves one run. Its agents may be silent for as long as whoever does them takes. How many wait at once is for
 * the caller to bound before a call starts, so that the time limit of a call runs from when it was handed out.
 */
export function createHostBackend({ board, agentTypes = BUILT_IN_AGENT_TYPES }: HostBackendOptions): AgentBackend {
  return {
    name: 'host',
    defaultConcurrency: MOST_PENDING,
    canRejoin: false,
    simulated: false,
    quiet: true,
    model: undefined,
    admit: (call) => void findAgentType(agentTypes, call.agentType),
    run: (request, signal, report) => board().offer(request, signal, report),
    close: async () => {},
  };
}
