import { z } from 'zod';
import { streamJsonLineSchema } from './stream-json.ts';

/** What the stdio host writes beside the lines of tasks. Source: spec H-6; the shapes are those the public agent SDKs read. */
const envelope = { uuid: z.uuid(), session_id: z.string() };

/** First line of each turn. */
export const initLineSchema = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('init'),
  cwd: z.string(),
  tools: z.array(z.string()),
  mcp_servers: z.array(z.looseObject({ name: z.string(), status: z.string() })),
  /** Id of the model of the main conversation; `none` where there is no model. */
  model: z.string(),
  permissionMode: z.string(),
  /** Names of the saved workflows. */
  slash_commands: z.array(z.string()),
  apiKeySource: z.string(),
  output_style: z.string(),
  skills: z.array(z.string()),
  plugins: z.array(z.unknown()),
  wf_version: z.string(),
  capabilities: z.array(z.string()),
  ...envelope,
});
export type InitLine = z.infer<typeof initLineSchema>;

/** Tokens as the Messages API counts them. */
export const turnUsageSchema = z.looseObject({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_creation_input_tokens: z.int(),
  cache_read_input_tokens: z.int(),
});
export type TurnUsage = z.infer<typeof turnUsageSchema>;

export const assistantLineSchema = z.looseObject({
  type: z.literal('assistant'),
  message: z.looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(z.looseObject({ type: z.string() })),
    stop_reason: z.string().nullable(),
    usage: turnUsageSchema,
  }),
  parent_tool_use_id: z.string().nullable(),
  ...envelope,
});

/** Where a turn comes from, when no person began it. */
export const originSchema = z.looseObject({ kind: z.literal('task-notification') });
export type TurnOrigin = z.infer<typeof originSchema>;

/** Results of tools, a notification that begins a turn, or a client's own message repeated to it. */
export const userLineSchema = z.looseObject({
  type: z.literal('user'),
  message: z.looseObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
  }),
  parent_tool_use_id: z.string().nullable(),
  isSynthetic: z.literal(true).optional(),
  isReplay: z.literal(true).optional(),
  origin: originSchema.optional(),
  tool_use_result: z.unknown().optional(),
  ...envelope,
});

const resultFields = {
  type: z.literal('result'),
  is_error: z.boolean(),
  duration_ms: z.int(),
  duration_api_ms: z.int(),
  num_turns: z.int(),
  stop_reason: z.string().nullable(),
  total_cost_usd: z.number(),
  usage: turnUsageSchema,
  modelUsage: z.record(z.string(), z.unknown()),
  permission_denials: z.array(
    z.looseObject({ tool_name: z.string(), tool_use_id: z.string(), tool_input: z.record(z.string(), z.unknown()) }),
  ),
  origin: originSchema.optional(),
  ...envelope,
};

/** Last line of a turn, exactly one a turn. */
export const resultLineSchema = z.union([
  z.looseObject({ ...resultFields, subtype: z.literal('success'), result: z.string() }),
  z.looseObject({
    ...resultFields,
    subtype: z.enum(['error_during_execution', 'error_max_turns']),
    errors: z.array(z.string()),
  }),
]);

/** The answer to a control request. */
export const controlResponseLineSchema = z.looseObject({
  type: z.literal('control_response'),
  response: z.union([
    z.looseObject({
      subtype: z.literal('success'),
      request_id: z.string(),
      response: z.record(z.string(), z.unknown()),
    }),
    z.looseObject({ subtype: z.literal('error'), request_id: z.string(), error: z.string() }),
  ]),
});

/** A question to the client: may this tool run? */
export const canUseToolLineSchema = z.looseObject({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.looseObject({
    subtype: z.literal('can_use_tool'),
    tool_name: z.string(),
    input: z.record(z.string(), z.unknown()),
    tool_use_id: z.string(),
    agent_id: z.string().optional(),
    description: z.string().optional(),
  }),
});

/** Takes a question back; it needs no answer any more. */
export const controlCancelLineSchema = z.looseObject({
  type: z.literal('control_cancel_request'),
  request_id: z.string(),
});

/** A piece of an answer of the main conversation, with `--include-partial-messages`. */
export const streamEventLineSchema = z.looseObject({
  type: z.literal('stream_event'),
  event: z.looseObject({ type: z.string() }),
  parent_tool_use_id: z.string().nullable(),
  ...envelope,
});

/** A request to the API is tried again. */
export const apiRetryLineSchema = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('api_retry'),
  attempt: z.int(),
  max_retries: z.int(),
  retry_delay_ms: z.int(),
  error_status: z.int().nullable(),
  ...envelope,
});

/** Any line of the stdio host. */
export const stdioOutputSchema = z.union([
  streamJsonLineSchema,
  initLineSchema,
  apiRetryLineSchema,
  assistantLineSchema,
  userLineSchema,
  resultLineSchema,
  controlResponseLineSchema,
  canUseToolLineSchema,
  controlCancelLineSchema,
  streamEventLineSchema,
]);
