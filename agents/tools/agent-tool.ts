import { z } from 'zod';
import type { ToolAccess } from './permissions/permission-modes.ts';
import type { ToolSession } from './tool-session.ts';

export interface ToolContext {
  /** Working directory of the agent; absolute. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** What this agent's tools keep between calls. */
  readonly session: ToolSession;
}

export interface ToolOutput {
  /** What the model reads; bounded by the tool. */
  readonly text: string;
  readonly isError: boolean;
  /** One short line for a person. */
  readonly summary?: string;
  /** Of a command that ended by itself. */
  readonly exitCode?: number;
}

/** What permission rules compare a call with: a path as seen from the working directory, or a command of a shell. */
export interface ToolSubject {
  readonly path?: string;
  /** The path before links were resolved: deny rules look at both. */
  readonly alias?: string;
  readonly command?: string;
}

/** A tool that a subagent may call. `run` may throw; the model then reads the message. */
export interface AgentTool {
  readonly name: string;
  readonly description: string;
  /** What its calls can do; permissions go by it. @defaultValue whoever passed the tool vouches for it: only deny rules count */
  readonly access?: ToolAccess;
  /** Name of the tool without which this one is of no use: it is there whenever that one is. */
  readonly companionOf?: string;
  /** Gives what the call is about, for rules. May reject; the tool then refuses the call too. */
  subject?(input: unknown, cwd: string): Promise<ToolSubject>;
  /** JSON Schema of the input; its root is an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  run(input: unknown, context: ToolContext): Promise<ToolOutput>;
}

/** Makes a tool whose input is checked against a Zod schema, so that `run` gets it typed. */
export function defineTool<Input extends z.ZodObject>(definition: {
  readonly name: string;
  readonly description: string;
  readonly access: ToolAccess;
  readonly companionOf?: string;
  readonly input: Input;
  subject?(input: z.infer<Input>, cwd: string): Promise<ToolSubject>;
  run(input: z.infer<Input>, context: ToolContext): Promise<ToolOutput>;
}): AgentTool {
  const { name, description, access, companionOf, input } = definition;
  let inputSchema: Readonly<Record<string, unknown>> | undefined;
  return {
    name,
    description,
    access,
    ...(companionOf === undefined ? {} : { companionOf }),
    ...(definition.subject === undefined
      ? {}
      : { subject: async (raw: unknown, cwd: string) => (await definition.subject?.(input.parse(raw), cwd)) ?? {} }),
    // Made when first offered: most runs of scripted agents never offer a tool.
    get inputSchema() {
      inputSchema ??= wireSchemaOf(input);
      return inputSchema;
    },
    run: async (raw, context) => {
      const parsed = input.safeParse(raw);
      if (!parsed.success) return { text: `${name}: ${z.prettifyError(parsed.error)}`, isError: true };
      return definition.run(parsed.data, context);
    },
  };
}

function wireSchemaOf(input: z.ZodObject): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = z.toJSONSchema(input);
  return schema;
}
