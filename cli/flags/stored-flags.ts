import type { RunLimits } from '../../runtime/run-options.ts';
import { LAYOUTS, type LayoutName } from '../launch/transcript-layouts.ts';
import { BACKENDS, type BackendName } from './run-flags.ts';
import { readToolFlags, type ToolFlags } from './tool-flags.ts';

/** What a launch leaves for a later `wf resume`, in the record's `options`. No secrets, no file of planned answers. */
export interface StoredFlags extends ToolFlags {
  readonly backend?: BackendName;
  /** Its agents were done by an agent that is connected to `wf mcp`: no backend here can go on as before. */
  readonly byConnectedAgent?: true;
  readonly agentCommand?: readonly string[];
  readonly model?: string;
  readonly concurrency?: number;
  readonly lanes?: Readonly<Record<string, number>>;
  readonly failOnAgentError?: boolean;
  readonly limits?: Partial<RunLimits>;
  /** Prices as they were given, unchecked. */
  readonly prices?: unknown;
  readonly layout?: LayoutName;
  /** The script was named by its path. */
  readonly startedByPath?: boolean;
}

const LIMIT_NAMES = [
  'maxAgents',
  'maxItems',
  'maxDepth',
  'maxRetries',
  'maxStructuredOutputRetries',
  'memoryLimitMb',
  'cpuLimitMs',
  'timeoutMs',
  'budget',
  'budgetUsd',
] as const satisfies readonly (keyof RunLimits)[];

const NULLABLE_LIMITS: ReadonlySet<string> = new Set(['timeoutMs', 'budget', 'budgetUsd']);

/** Reads stored options back; members of another version or of a wrong type count as absent. */
export function readStoredFlags(options: Readonly<Record<string, unknown>>): StoredFlags {
  const { backend, agentCommand, model, concurrency, lanes, failOnAgentError, limits, layout, prices, startedByPath } =
    options;
  return {
    ...(isBackend(backend) ? { backend } : {}),
    ...(backend === 'host' ? { byConnectedAgent: true as const } : {}),
    ...(prices === undefined ? {} : { prices }),
    ...(isWords(agentCommand) ? { agentCommand } : {}),
    ...(typeof model === 'string' ? { model } : {}),
    ...(isCount(concurrency) && concurrency >= 1 && concurrency <= 256 ? { concurrency } : {}),
    ...(typeof lanes === 'object' && lanes !== null ? { lanes: readLanes(lanes) } : {}),
    ...(typeof failOnAgentError === 'boolean' ? { failOnAgentError } : {}),
    ...(typeof startedByPath === 'boolean' ? { startedByPath } : {}),
    ...readToolFlags(options),
    ...(LAYOUTS.includes(layout as LayoutName) ? { layout: layout as LayoutName } : {}),
    ...(typeof limits === 'object' && limits !== null ? { limits: readLimits(limits) } : {}),
  };
}

function readLimits(stored: object): Partial<RunLimits> {
  const members = LIMIT_NAMES.map((name) => [name, (stored as Record<string, unknown>)[name]] as const);
  return Object.fromEntries(
    members.filter(
      ([name, value]) =>
        isCount(value) ||
        (name === 'budgetUsd' && typeof value === 'number' && value > 0) ||
        (value === null && NULLABLE_LIMITS.has(name)),
    ),
  );
}

function readLanes(stored: object): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(stored).filter(([, size]) => isCount(size) && size >= 1));
}

function isBackend(value: unknown): value is BackendName {
  return BACKENDS.some((name) => name === value);
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string');
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
