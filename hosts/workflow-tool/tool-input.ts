import { z } from 'zod';
import { isNestedTooDeeply } from '../../protocol/json-nesting.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { GIVEN_RUN_ID, MAX_SCRIPT_CHARACTERS, workflowToolInputSchema } from '../../protocol/workflow-tool-input.ts';
import type { LaunchRequest } from './launch-request.ts';

/** A JSON Schema of a tool's input, as the Messages API and MCP take it. */
export interface ToolInputSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

function wireSchemaOf(input: z.ZodObject): ToolInputSchema {
  const { $schema, ...schema } = z.toJSONSchema(input);
  return schema as unknown as ToolInputSchema;
}

/** Input of the Workflow tool. Source: spec H-1. */
export const WORKFLOW_INPUT_SCHEMA: ToolInputSchema = wireSchemaOf(workflowToolInputSchema);

/** Input of the TaskStop tool. */
export const TASK_STOP_INPUT_SCHEMA: ToolInputSchema = {
  type: 'object',
  properties: { task_id: { type: 'string', description: 'The task id that the launch gave' } },
  required: ['task_id'],
  additionalProperties: false,
};

/**
 * Reads what a model gave the Workflow tool. `null` counts as not given. Args that came as the text of a JSON object or
 * array are taken as that value, since models often send them so (S-16).
 *
 * @throws USAGE_INVALID with one sentence that says what is wrong and what is right
 */
export function readWorkflowInput(input: unknown): LaunchRequest {
  const fields = readFields(input, WORKFLOW_INPUT_SCHEMA, 'Workflow');
  const script = text(fields, 'script');
  const scriptPath = text(fields, 'scriptPath');
  const name = text(fields, 'name');
  const resumeFromRunId = text(fields, 'resumeFromRunId');
  if (script !== undefined && script.length > MAX_SCRIPT_CHARACTERS) {
    throw refusal(
      `"script" has ${script.length.toLocaleString('en-US')} characters; at most 524,288 are allowed, so pass data in "args" or let agents read it from files`,
    );
  }
  if (resumeFromRunId !== undefined && !GIVEN_RUN_ID.test(resumeFromRunId)) {
    throw refusal(
      `"resumeFromRunId" is ${quoted(resumeFromRunId)}; it must be the id of a run, such as wf_1a2b3c4d-5e6`,
    );
  }
  if ([script, scriptPath, name, resumeFromRunId].every((one) => one === undefined)) {
    throw refusal(
      'no workflow was named; give "script" (its text), "scriptPath" (a file), "name" (a saved workflow), or "resumeFromRunId" to go on with a run',
    );
  }
  const args = fields['args'] === undefined ? {} : { args: parsedArgs(fields['args']) };
  return { script, scriptPath, name, resumeFromRunId, ...args };
}

/** Reads what a model gave the TaskStop tool. @throws USAGE_INVALID */
export function readTaskStopInput(input: unknown): string {
  const id = text(readFields(input, TASK_STOP_INPUT_SCHEMA, 'TaskStop'), 'task_id');
  if (id === undefined) throw refusal('"task_id" is missing; give the task id that the launch gave');
  return id;
}

function readFields(input: unknown, schema: ToolInputSchema, tool: string): Readonly<Record<string, unknown>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw refusal(`the input of ${tool} must be an object, not ${Array.isArray(input) ? 'an array' : kindOf(input)}`);
  }
  const allowed = Object.keys(schema.properties);
  const unknown = Object.keys(input).filter((key) => !allowed.includes(key));
  if (unknown.length > 0) {
    const keys = unknown.slice(0, 5).map(quoted).join(', ');
    throw refusal(`${tool} does not take ${keys}; its keys are ${allowed.join(', ')}`);
  }
  return input as Readonly<Record<string, unknown>>;
}

function text(fields: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw refusal(`"${key}" must be a string, not ${kindOf(value)}`);
  if (value.trim() === '') throw refusal(`"${key}" is empty; give it a value or leave it out`);
  return value;
}

function parsedArgs(args: unknown): unknown {
  if (typeof args !== 'string' || !/^\s*[[{]/.test(args)) return args;
  try {
    const value: unknown = JSON.parse(args);
    return isNestedTooDeeply(value) ? args : value;
  } catch {
    return args;
  }
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function quoted(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 79)}…` : value);
}

function refusal(message: string): WorkflowError {
  return new WorkflowError('USAGE_INVALID', message);
}
