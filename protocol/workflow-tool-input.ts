import { z } from 'zod';

/** Longest script that a tool takes. Source: spec H-1. */
export const MAX_SCRIPT_CHARACTERS = 524_288;

/** Ids of runs, as a model gives them. Source: spec H-1. */
export const GIVEN_RUN_ID = /^wf_[a-z0-9-]{6,}$/;

/** Input of the tool `Workflow`. Source: spec H-1. */
export const workflowToolInputSchema = z.strictObject({
  script: z
    .string()
    .max(MAX_SCRIPT_CHARACTERS)
    .optional()
    .describe('The whole text of a workflow script; it begins with export const meta = {…}'),
  scriptPath: z.string().optional().describe('A script file; goes before name and script'),
  name: z.string().optional().describe('A saved or built-in workflow; goes before script'),
  args: z
    .unknown()
    .optional()
    .describe('Any JSON value; the script sees it as args. On a resume the earlier args stand when left out'),
  resumeFromRunId: z
    .string()
    .regex(GIVEN_RUN_ID)
    .optional()
    .describe('Goes on with this run: finished agents are answered from its journal. Without a script, under its own'),
  title: z.unknown().optional().describe('Ignored'),
  description: z.unknown().optional().describe('Ignored'),
});
