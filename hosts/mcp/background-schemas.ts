import { z } from 'zod';

const runId = z.string().min(1).describe('Id of the run or of its task, as Workflow gave it.');

export const waitingInput = z.strictObject({
  runId,
  waitSeconds: z
    .number()
    .min(0)
    .max(3_600)
    .optional()
    .describe('How long to wait for the end, at most. Progress is told meanwhile.'),
});

export const stopInput = z.strictObject({
  runId,
  reason: z.string().max(500).optional().describe('Shown with the run.'),
});

export const listInput = z.strictObject({
  limit: z.int().min(1).max(200).optional().describe('Runs listed at most. Default 20.'),
});

export const launchOutput = z.looseObject({
  status: z.literal('async_launched'),
  taskId: z.string(),
  taskType: z.literal('local_workflow'),
  workflowName: z.string(),
  runId: z.string(),
  summary: z.string(),
  transcriptDir: z.string(),
  scriptPath: z.string(),
});

const status = z.enum(['running', 'interrupted', 'completed', 'failed', 'stopped']);

const run = {
  runId: z.string(),
  taskId: z.string().optional(),
  status,
  workflowName: z.string(),
  startedAt: z.number().describe('Epoch milliseconds.'),
  backend: z.string().optional().describe('host: its agents are done by the connected agent, with wf_status.'),
};

export const statusOutput = z.looseObject({
  ...run,
  agents: z
    .looseObject({
      total: z.int(),
      done: z.int(),
      failed: z.int(),
      skipped: z.int(),
      cached: z.int(),
      inFlight: z.int(),
    })
    .optional(),
  tokens: z.number().optional(),
  phase: z.string().nullable().optional(),
  summary: z.string().optional().describe('How it ended, in a line.'),
  outputFile: z.string().optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});

export const resultOutput = statusOutput.extend({
  result: z.unknown().optional(),
  resultOmitted: z
    .boolean()
    .optional()
    .describe('The result is too long or too deep for a message: read it from outputFile.'),
});

export const listOutput = z.looseObject({
  runs: z.array(z.looseObject(run)).describe('Newest first.'),
  more: z.int().describe('Runs that are not listed.'),
  saved: z
    .array(
      z.looseObject({
        name: z.string(),
        description: z.string(),
        path: z.string(),
        builtIn: z.boolean().describe('It comes with wf'),
      }),
    )
    .describe('Workflows that can be named.'),
});
