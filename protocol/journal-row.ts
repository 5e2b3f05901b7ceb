import { z } from 'zod';
import { keptWorktree } from './kept-worktree.ts';
import { resultSource } from './result-source.ts';

const at = z.number();
const key = z.string().regex(/^v1:[0-9a-f]{64}$/);
/** Tells calls of one content apart; absent for 0. */
const occurrence = z.int().optional();
/** Key of occurrence 0 of the same content; absent when that is `key` itself. */
const content = key.optional();
/** Counts the calls of one content within one scope; absent for 0. */
const ordinal = z.int().optional();
const agentId = z.string().regex(/^a[0-9a-f]{16}$/);

export const launchedRowSchema = z.object({
  type: z.literal('launched'),
  v: z.int(),
  runId: z.string(),
  launch: z.int(),
  scriptSha256: z.string(),
  argsSha256: z.string().nullable(),
  limits: z.record(z.string(), z.unknown()),
  /** 1 when the scopes of the rows that follow hold over awaits; absent in journals of before. */
  scopes: z.int().optional(),
  wfVersion: z.string(),
  nodeVersion: z.string(),
  at,
});

export const startedRowSchema = z.object({
  type: z.literal('started'),
  key,
  agentId,
  occurrence,
  content,
  ordinal,
  /** Place of the call in the structure of the script. */
  scope: z.string(),
  label: z.string(),
  phase: z.string().nullable(),
  attempt: z.int(),
  at,
});

export const resultRowSchema = z.object({
  type: z.literal('result'),
  key,
  agentId,
  occurrence,
  content,
  ordinal,
  scope: z.string(),
  /** The value as the script got it, key order included. */
  result: z.unknown(),
  usage: z.object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    tool_uses: z.int(),
    /** US dollars; null when it is not known. Absent where agents cost nothing. */
    cost_usd: z.number().nullable().optional(),
  }),
  /** StructuredOutput calls used. */
  attempts: z.int(),
  /** Set when the answer was accepted only on the last attempt allowed. */
  lastAttempt: z.literal(true).optional(),
  /** Where the answer comes from, when no agent of this run gave it; its usage is 0 then. */
  source: resultSource.optional(),
  /** Where the agent's changes are, when it had a worktree and left some. */
  worktree: keptWorktree.optional(),
  at,
});

export const failedRowSchema = z.object({
  type: z.literal('failed'),
  key,
  agentId,
  occurrence,
  content,
  ordinal,
  scope: z.string(),
  error: z.object({ code: z.string(), message: z.string() }),
  /** US dollars that it cost all the same; null when it is not known. */
  cost_usd: z.number().nullable().optional(),
  at,
});

/**
 * One row of `journal.jsonl`. Source: spec R-4.
 *
 * On disk each row is one line of JSON whose last member is `crc`: eight hex digits of CRC-32 over the bytes of the line
 * before `,"crc":"`. Readers skip rows of a type they do not know once its `crc` is right.
 */
export const journalRowSchema = z.discriminatedUnion('type', [
  launchedRowSchema,
  startedRowSchema,
  resultRowSchema,
  failedRowSchema,
]);

export type LaunchedRow = z.infer<typeof launchedRowSchema>;
export type StartedRow = z.infer<typeof startedRowSchema>;
export type ResultRow = z.infer<typeof resultRowSchema>;
export type FailedRow = z.infer<typeof failedRowSchema>;
export type JournalRow = z.infer<typeof journalRowSchema>;
