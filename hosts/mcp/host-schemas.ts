import { z } from 'zod';
import { MOST_PENDING } from '../../agents/host/host-backend.ts';
import { MAX_SCRIPT_CHARACTERS } from '../../protocol/workflow-tool-input.ts';

/** Which script is meant; the same members wherever one is named. Source: spec H-1. */
export const sourceShape = {
  script: z.string().max(MAX_SCRIPT_CHARACTERS).optional().describe('The text of the workflow script.'),
  scriptPath: z.string().min(1).optional().describe('Path of a script file; goes before name and script.'),
  name: z.string().min(1).optional().describe('Name of a saved workflow; goes before script.'),
  args: z.unknown().optional().describe('What the script finds in its global `args`: any JSON.'),
};

export const startInput = z.strictObject({
  ...sourceShape,
  maxPending: z
    .int()
    .min(1)
    .max(MOST_PENDING)
    .optional()
    .describe('Steps handed out at a time: 1 (default) for one after another, more if you have subagents of your own.'),
  graph: z.unknown().optional().describe('Not in this version.'),
});

const runId = z.string().min(1).describe('Id of the run, as wf_start gave it.');

const waitSeconds = z
  .number()
  .min(0)
  .max(600)
  .optional()
  .describe('How long to wait for the next step or the end, at most. Default 20.');

export const continueInput = z.strictObject({
  runId,
  stepId: z.string().min(1).describe('Id of the step, as it was handed out.'),
  result: z
    .strictObject({
      status: z.enum(['success', 'failed', 'skipped']),
      summary: z
        .string()
        .optional()
        .describe('The reason of a failure; or the text, where a step wants one and there is no output.'),
      output: z.unknown().optional().describe('The value of the step: JSON that fits its outputSchema, or a text.'),
      branchLabel: z.string().optional().describe('For decisions of a graph; scripts have no use for it.'),
    })
    .describe('What came of the step.'),
  waitSeconds,
});

export const statusInput = z.strictObject({ runId, waitSeconds });

export const cancelInput = z.strictObject({
  runId,
  reason: z.string().max(500).optional().describe('Shown with the run.'),
});

const step = z.looseObject({
  stepId: z.string(),
  agentKey: z.string(),
  name: z.string(),
  phase: z.string().nullable(),
  instruction: z.string(),
  outputSchema: z.unknown().optional(),
  attempt: z.int(),
  contract: z.string(),
  cwd: z.string().optional().describe('Folder that the step has to itself.'),
  role: z.string().optional(),
  model: z.string().optional(),
});

/** What each of the `wf_` tools answers. Source: spec H-12, H-13. */
export const hostRunOutput = z.looseObject({
  runId: z.string(),
  status: z.enum(['awaiting_agent', 'running', 'completed', 'failed', 'cancelled']),
  pending: z.array(step),
  logs: z.array(z.string()),
  result: z.unknown().optional(),
  resultOmitted: z
    .boolean()
    .optional()
    .describe('The result is too long or too deep for a message: read it from outputFile.'),
  outputFile: z.string().optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
  rejected: z
    .looseObject({ stepId: z.string(), errors: z.array(z.string()), usedUp: z.boolean() })
    .optional()
    .describe('The answer did not fit: each place and what is wrong with it.'),
});
