import { z } from 'zod';
import { censusSchema, usageSchema } from './core-event.ts';
import { keptWorktree } from './kept-worktree.ts';
import { runCostsSchema } from './run-costs.ts';

/** Run ids: `wf_` + 8 hex + `-` + 3 hex (C-9); resuming also accepts what H-1 allows. */
export const runIdPattern = /^wf_[0-9a-f]{8}-[0-9a-f]{3}$/;

const error = z.object({
  code: z.string(),
  message: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
});

/**
 * `run.json`: what is known of a run without reading its logs. Replaced by rename, never edited in place.
 * `interrupted` is never stored: it is what a reader says of a `running` record whose process is gone.
 */
export const runRecordSchema = z.object({
  v: z.literal(1),
  runId: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(['running', 'completed', 'failed', 'killed']),
  /** Counts the starts of this run from 1. */
  launch: z.int(),
  createdAt: z.number(),
  updatedAt: z.number(),
  finishedAt: z.number().optional(),
  /** Working directory of the agents; absolute. */
  cwd: z.string(),
  /** Absolute path of the author's file; absent when it came from stdin or as text. */
  scriptPath: z.string().optional(),
  scriptFileName: z.string(),
  scriptSha256: z.string(),
  argsSha256: z.string().nullable(),
  backend: z.string(),
  simulated: z.boolean(),
  /** Options of the launch that a resume takes over unless told otherwise (no secrets). */
  options: z.record(z.string(), z.unknown()),
  owner: z.object({ host: z.string(), pid: z.int(), startedAt: z.string().optional() }).optional(),
  error: error.optional(),
  census: censusSchema.optional(),
  usage: usageSchema.optional(),
});
export type RunRecord = z.infer<typeof runRecordSchema>;

/** The one object of `--output-format json` and of `output.json`. Source: spec C-6. */
export const runOutputSchema = z.object({
  status: z.enum(['completed', 'failed', 'killed']),
  runId: z.string().optional(),
  /** Absent when the script returned nothing. */
  result: z.unknown().optional(),
  error: error.optional(),
  usage: usageSchema,
  costs: runCostsSchema.optional(),
  census: censusSchema,
  failures: z.array(z.object({ label: z.string(), code: z.string(), message: z.string() })),
  logs: z.array(z.object({ level: z.string(), text: z.string() })),
  limits_hit: z.array(z.string()),
  /** Working copies that agents left with changes in them; absent when there are none. */
  worktrees: z.array(keptWorktree.extend({ label: z.string() })).optional(),
  /** True when the agents were simulated, so that nobody takes their answers for real. */
  simulated: z.boolean().optional(),
  resume: z.string().optional(),
});
export type RunOutput = z.infer<typeof runOutputSchema>;
