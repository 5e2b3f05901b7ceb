import { z } from 'zod';
import { keptWorktree } from './kept-worktree.ts';
import { resultSource } from './result-source.ts';
import { runCostsSchema } from './run-costs.ts';

const errorRecord = z.object({
  code: z.string(),
  message: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
});

/** Numbers that every end of a run carries. Source: spec A-19. Cached agents count in `agents_done` too. */
export const censusSchema = z.object({
  agent_count: z.int(),
  agents_done: z.int(),
  agents_error: z.int(),
  agents_skipped: z.int(),
  agents_cached: z.int(),
  agents_cancelled: z.int(),
  agents_empty_result: z.int(),
});
export type Census = z.infer<typeof censusSchema>;

/** Tokens are those of live calls; a cached call costs none. `duration_ms` is wall time. */
export const usageSchema = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  total_tokens: z.int(),
  tool_uses: z.int(),
  duration_ms: z.int(),
  /** Of the input tokens: read from and written to the provider's cache. Absent for none. */
  cache_read_tokens: z.int().optional(),
  cache_write_tokens: z.int().optional(),
  /** US dollars, of this launch; null when some of it is not known. Absent where agents cost nothing. */
  cost_usd: z.number().min(0).nullable().optional(),
  /** The part of it that is known, where not all is. */
  cost_at_least_usd: z.number().min(0).optional(),
  /** The same over all launches of the run, on a resume. */
  total_cost_usd: z.number().min(0).nullable().optional(),
});
export type Usage = z.infer<typeof usageSchema>;

/** Who an agent is; the same in `agent.queued` and `agent.cached`. `index` counts the calls of this launch from 1. */
const identity = {
  key: z.string(),
  agentId: z.string(),
  index: z.int(),
  label: z.string(),
  scope: z.string(),
  phaseIndex: z.int().optional(),
  phaseTitle: z.string().optional(),
  model: z.string().optional(),
  agentType: z.string().optional(),
  isolation: z.string().optional(),
  /** Name of the nested workflow it belongs to. */
  workflow: z.string().optional(),
  promptPreview: z.string(),
};

const limits = z.object({
  maxAgents: z.int(),
  maxItems: z.int(),
  maxDepth: z.int(),
  maxRetries: z.int(),
  maxStructuredOutputRetries: z.int(),
  memoryLimitMb: z.int(),
  cpuLimitMs: z.int(),
  timeoutMs: z.int().nullable(),
  budget: z.int().nullable(),
  budgetUsd: z.number().nullable().optional(),
});

/** `data` of each event type. Large texts are never in an event: previews are at most 400 characters. */
export const coreEventData = {
  'run.started': z.object({
    version: z.int(),
    runId: z.string(),
    /** Counts the starts of this run from 1; above 1 it is a resume. */
    launch: z.int(),
    workflow: z.object({
      name: z.string(),
      description: z.string(),
      phases: z.array(z.object({ title: z.string(), detail: z.string().optional(), model: z.string().optional() })),
    }),
    /** Absolute path of the author's file, where there is one. */
    scriptPath: z.string().optional(),
    scriptSha256: z.string(),
    argsSha256: z.string().nullable(),
    backend: z.string(),
    simulated: z.boolean(),
    model: z.string().optional(),
    concurrency: z.object({ value: z.int(), source: z.string() }),
    limits,
    /** Day of the prices in use; absent where agents cost nothing. */
    pricesAsOf: z.string().optional(),
    /** US dollars that earlier launches spent; null when it is not known. */
    earlierCostUsd: z.number().min(0).nullable().optional(),
    toolUseId: z.string().optional(),
    wfVersion: z.string(),
    nodeVersion: z.string(),
  }),
  'phase.started': z.object({ index: z.int(), title: z.string(), kind: z.literal('child').optional() }),
  'agent.queued': z.object(identity),
  'agent.started': z.object({ key: z.string(), attempt: z.int() }),
  /** The first sign of life of an attempt. */
  'agent.active': z.object({ key: z.string() }),
  'agent.retrying': z.object({
    key: z.string(),
    attempt: z.int(),
    delayMs: z.int(),
    reason: errorRecord.extend({ status: z.int().optional() }),
    /** How many agents may run at once after this failure. */
    concurrency: z.int(),
  }),
  'agent.tool': z.object({
    key: z.string(),
    toolUseId: z.string(),
    name: z.string(),
    status: z.enum(['started', 'completed', 'failed']),
    durationMs: z.int().optional(),
    summary: z.string().optional(),
    /** Of a command that ended by itself. */
    exitCode: z.int().optional(),
  }),
  'agent.finished': z.object({
    key: z.string(),
    state: z.enum(['done', 'error', 'skipped', 'cancelled']),
    inputTokens: z.int(),
    outputTokens: z.int(),
    toolUses: z.int(),
    /** StructuredOutput calls used. */
    attempts: z.int(),
    /** Tries over the transport. */
    attempt: z.int(),
    durationMs: z.int(),
    /** Of the input tokens; absent for none. */
    cacheReadTokens: z.int().optional(),
    cacheWriteTokens: z.int().optional(),
    /** US dollars; null when it is not known. Absent where agents cost nothing. */
    costUsd: z.number().min(0).nullable().optional(),
    /** The phase it cost that for. */
    phaseIndex: z.int().optional(),
    emptyResult: z.boolean().optional(),
    resultPreview: z.string().optional(),
    error: errorRecord.optional(),
    /** Set when it had a worktree and left changes in it. */
    worktree: keptWorktree.optional(),
  }),
  /** A stored answer was used. `source` says where from, when it was not this run's own journal. */
  'agent.cached': z.object({
    ...identity,
    resultPreview: z.string().optional(),
    emptyResult: z.boolean().optional(),
    source: resultSource.optional(),
    /** Where the changes are that its agent left in an earlier launch. */
    worktree: keptWorktree.optional(),
  }),
  /** A thunk of `parallel` or a stage of `pipeline` threw something that was not an agent's own failure. */
  'part.failed': z.object({
    helper: z.enum(['parallel', 'pipeline']),
    index: z.int(),
    stage: z.int().optional(),
    scope: z.string(),
    error: errorRecord,
  }),
  log: z.object({ level: z.enum(['debug', 'info', 'warn', 'error']), text: z.string() }),
  /** A limit refused a call or ended the run. */
  limit: z.object({ code: z.string(), message: z.string() }),
  'run.finished': z.object({
    status: z.enum(['completed', 'failed', 'killed']),
    error: errorRecord.optional(),
    census: censusSchema,
    usage: usageSchema,
    limitsHit: z.array(z.string()),
    costs: runCostsSchema.optional(),
    resultPreview: z.string().optional(),
    /** Absolute path of `output.json`, which exists before this event. */
    outputFile: z.string(),
    /** The command that resumes this run, as a shell takes it. */
    resume: z.string(),
  }),
} as const;

export type CoreEventType = keyof typeof coreEventData;
export type CoreEventData<T extends CoreEventType> = z.infer<(typeof coreEventData)[T]>;

/** One line of `events.ndjson`. `seq` counts from 1 without gaps over all launches of a run; `at` is epoch ms. Source: spec E-1. */
export type CoreEvent = {
  [T in CoreEventType]: {
    readonly seq: number;
    readonly at: number;
    readonly type: T;
    readonly data: Readonly<CoreEventData<T>>;
  };
}[CoreEventType];

const types = Object.keys(coreEventData) as CoreEventType[];

/** Validates one line of the log. Unknown types are refused here; readers of logs skip them instead. */
export const coreEventSchema = z.discriminatedUnion(
  'type',
  types.map((type) =>
    z.object({ seq: z.int().min(1), at: z.number(), type: z.literal(type), data: coreEventData[type] }),
  ) as unknown as [z.ZodObject<{ type: z.ZodLiteral<string> }>, ...z.ZodObject<{ type: z.ZodLiteral<string> }>[]],
);
