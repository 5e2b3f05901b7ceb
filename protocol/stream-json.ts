import { z } from 'zod';
import { censusSchema } from './core-event.ts';
import { runCostsSchema } from './run-costs.ts';

/** Version of the stream-json lines. Fields are added, never renamed, so readers ignore what they do not know (E-12). */
export const STREAM_JSON_VERSION = 1;

/** `claude` is the default; `cbc` is what CodeBuddy prints. Source: spec E-8. */
export const STREAM_JSON_DIALECTS = ['claude', 'cbc'] as const;
export type StreamJsonDialect = (typeof STREAM_JSON_DIALECTS)[number];

const envelope = {
  type: z.literal('system'),
  uuid: z.uuid(),
  session_id: z.string(),
};

/** What every line of one task carries (E-4). */
const task = {
  ...envelope,
  task_id: z.string(),
  /** Present where a tool call started the run. */
  tool_use_id: z.string().optional(),
};

export const streamUsageSchema = z.looseObject({
  total_tokens: z.int(),
  tool_uses: z.int(),
  duration_ms: z.int(),
  /** US dollars; null when it is not known. Absent where agents cost nothing. */
  cost_usd: z.number().nullable().optional(),
});
export type StreamUsage = z.infer<typeof streamUsageSchema>;

/** A phase of a snapshot; indexes run from 1 without gaps, those of `meta.phases` first. */
export const workflowPhaseSchema = z.looseObject({
  type: z.literal('workflow_phase'),
  index: z.int().min(1),
  title: z.string(),
  /** Dialect `claude`: the phase stands for a nested workflow. */
  kind: z.literal('child').optional(),
});
export type WorkflowPhase = z.infer<typeof workflowPhaseSchema>;

/** `start`, `progress`, `done`, `error` in dialect `claude`; `start`, `done`, `error`, `cached` in `cbc` (E-8). */
export const agentStateSchema = z.enum(['start', 'progress', 'done', 'error', 'cached']);
export type AgentState = z.infer<typeof agentStateSchema>;

const changingAgentFields = {
  state: agentStateSchema,
  startedAt: z.number().optional(),
  endedAt: z.number().optional(),
  durationMs: z.number().optional(),
  attempt: z.int().optional(),
  /** Dialect `claude`: answered from the journal. */
  cached: z.boolean().optional(),
  tokens: z.int().optional(),
  /** US dollars; null when it is not known. */
  costUsd: z.number().nullable().optional(),
  toolCalls: z.int().optional(),
  lastToolName: z.string().optional(),
  error: z.string().optional(),
  /** Dialect `claude`: epoch ms of the last sign of life. */
  lastProgressAt: z.number().optional(),
  lastToolSummary: z.string().optional(),
  /** Dialect `claude`: the agent was in flight when the run was stopped or came to its end. */
  endedWithRun: z.enum(['stopped', 'completed']).optional(),
};

/** An agent of a snapshot. Times are epoch ms; previews are at most 400 characters, 200 in dialect `cbc` (E-5). */
export const workflowAgentSchema = z.looseObject({
  type: z.literal('workflow_agent'),
  index: z.int().min(1),
  /** The `v1:` key of the call. */
  agentId: z.string(),
  label: z.string(),
  phaseIndex: z.int().optional(),
  phaseTitle: z.string().optional(),
  model: z.string().optional(),
  queuedAt: z.number(),
  isolation: z.string().optional(),
  ...changingAgentFields,
  promptPreview: z.string().optional(),
  resultPreview: z.string().optional(),
});
export type WorkflowAgent = z.infer<typeof workflowAgentSchema>;

export const workflowItemSchema = z.discriminatedUnion('type', [workflowPhaseSchema, workflowAgentSchema]);

/** New fields of an agent that an earlier line has introduced, found by `index`. */
export const workflowAgentChangeSchema = z.looseObject({
  type: z.literal('workflow_agent'),
  index: z.int().min(1),
  ...changingAgentFields,
});

export const taskStartedSchema = z.looseObject({
  ...task,
  subtype: z.literal('task_started'),
  task_type: z.literal('local_workflow'),
  workflow_name: z.string(),
  description: z.string(),
  /** Dialect `claude`: the text of the script, unless the source is kept out. */
  prompt: z.string().optional(),
  /** True when no model is behind the agents. */
  simulated: z.literal(true).optional(),
});

/**
 * How far a task is. With `workflow_progress`, a full snapshot that replaces the last one. Without it the last one stays,
 * brought up to date by `workflow_changes`: new phases and agents whole (without previews), known agents with their
 * changed fields. A reader that ignores `workflow_changes` is merely later (E-12, E-14).
 */
export const taskProgressSchema = z.looseObject({
  ...task,
  subtype: z.literal('task_progress'),
  description: z.string(),
  usage: streamUsageSchema,
  run_id: z.string().optional(),
  last_tool_name: z.string().optional(),
  summary: z.string().optional(),
  workflow_progress: z.array(workflowItemSchema).optional(),
  workflow_changes: z.array(z.union([workflowPhaseSchema, workflowAgentSchema, workflowAgentChangeSchema])).optional(),
});

export const taskUpdatedSchema = z.looseObject({
  ...task,
  subtype: z.literal('task_updated'),
  patch: z.looseObject({
    status: z.enum(['pending', 'running', 'paused', 'completed', 'failed', 'killed']),
    /** Epoch ms. */
    end_time: z.number().optional(),
    error: z.string().optional(),
  }),
});

/** The only sign of a task's end, once a task. `output_file` exists before the line is written (E-7). */
export const taskNotificationSchema = z.looseObject({
  ...task,
  subtype: z.literal('task_notification'),
  status: z.enum(['completed', 'failed', 'stopped']),
  summary: z.string(),
  output_file: z.string(),
  usage: streamUsageSchema,
  costs: runCostsSchema.optional(),
  census: censusSchema.optional(),
  simulated: z.literal(true).optional(),
});

/** Dialect `claude`: the workflows that run now, sent when that set changes. */
export const backgroundTasksChangedSchema = z.looseObject({
  ...envelope,
  subtype: z.literal('background_tasks_changed'),
  tasks: z.array(
    z.looseObject({ task_id: z.string(), task_type: z.literal('local_workflow'), description: z.string() }),
  ),
});

/** One line of `--output-format stream-json`, either dialect. */
export const streamJsonLineSchema = z.discriminatedUnion('subtype', [
  taskStartedSchema,
  taskProgressSchema,
  taskUpdatedSchema,
  taskNotificationSchema,
  backgroundTasksChangedSchema,
]);
export type StreamJsonLine = z.infer<typeof streamJsonLineSchema>;
export type TaskProgress = z.infer<typeof taskProgressSchema>;
export type TaskUpdated = z.infer<typeof taskUpdatedSchema>;
export type TaskNotification = z.infer<typeof taskNotificationSchema>;
