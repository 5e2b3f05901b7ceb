import { z } from 'zod';
import { isWorkflowError, toErrorRecord, WorkflowError } from '../../protocol/workflow-error.ts';

/** What a call of a tool may use. */
export interface ToolCallContext {
  /** Aborts when the client cancels the call, or is gone. */
  readonly signal: AbortSignal;
  /** Tells a client that waits, if it wants to hear it. `progress` must rise. */
  readonly progress: (progress: number, total: number | undefined, message: string) => void;
}

export interface ToolAnswer {
  readonly structured: Readonly<Record<string, unknown>>;
  /** What a model reads; the structured content as JSON where this is absent. */
  readonly text?: string;
}

/** A tool of the server, its types forgotten. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchemaOfObject;
  readonly outputSchema: JsonSchemaOfObject;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
  /** @throws WorkflowError, of which the client gets the text */
  call(input: unknown, context: ToolCallContext): Promise<ToolAnswer>;
}

export interface JsonSchemaOfObject {
  readonly [keyword: string]: unknown;
  readonly type: 'object';
}

/** Makes a tool whose input is checked against a Zod schema, so that `call` gets it typed. Unknown members are refused. */
export function defineMcpTool<Input extends z.ZodObject, Output extends z.ZodObject>(definition: {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  readonly changes: 'nothing' | 'runs';
  call(input: z.output<Input>, context: ToolCallContext): Promise<{ structured: z.input<Output>; text?: string }>;
}): McpTool {
  const { name, title, description, input, output, changes } = definition;
  return {
    name,
    title,
    description,
    inputSchema: jsonSchemaOf(input, 'input'),
    outputSchema: jsonSchemaOf(output, 'output'),
    annotations: { readOnlyHint: changes === 'nothing', destructiveHint: false },
    call: (raw, context) => {
      const parsed = input.safeParse(raw ?? {});
      if (!parsed.success) {
        const known = Object.keys(input.shape).join(', ');
        throw new WorkflowError('USAGE_INVALID', `${name}: ${faultsOf(parsed.error)}. It takes: ${known}.`);
      }
      return definition.call(parsed.data, context);
    },
  };
}

/** What a client gets of an error: one text for its model, and the parts for a program. */
export function toolFailure(error: unknown): {
  readonly isError: true;
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly _meta: Record<string, unknown>;
} {
  const known = isWorkflowError(error);
  const { code, message } = toErrorRecord(error);
  const text = known ? message : `A fault of wf: ${message}`;
  return {
    isError: true,
    content: [{ type: 'text', text: text.includes(`[${code}]`) ? text : `${text} [${code}]` }],
    _meta: { 'wf/error': { code, message } },
  };
}

/** JSON Schema as MCP takes it: its root is an object. */
export function jsonSchemaOf(schema: z.ZodObject, io: 'input' | 'output'): JsonSchemaOfObject {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io });
  return { ...rest, type: 'object' };
}

const MAX_FAULTS = 10;

function faultsOf({ issues }: z.ZodError): string {
  const lines = issues.slice(0, MAX_FAULTS).map(({ path, message }) => {
    const place = path.map(String).join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
  return lines.join('; ').slice(0, 2_000).toWellFormed();
}
