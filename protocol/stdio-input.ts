import { z } from 'zod';

/**
 * What a client writes to the stdio host, one JSON object a line. Source: spec H-6, as the public agent SDKs send it.
 * Everything is loose: a client may send fields that this version does not know.
 */
export const controlRequestSchema = z.looseObject({
  type: z.literal('control_request'),
  /** Chosen by the client; the answer repeats it. */
  request_id: z.string().min(1),
  request: z.looseObject({ subtype: z.string() }),
});
export type ControlRequest = z.infer<typeof controlRequestSchema>;

/** The client's answer to a question of ours. */
export const clientControlResponseSchema = z.looseObject({
  type: z.literal('control_response'),
  response: z.looseObject({
    subtype: z.enum(['success', 'error']),
    request_id: z.string(),
    response: z.unknown().optional(),
    error: z.string().optional(),
  }),
});
export type ClientControlResponse = z.infer<typeof clientControlResponseSchema>;

export const clientUserMessageSchema = z.looseObject({
  type: z.literal('user'),
  message: z.looseObject({
    role: z.literal('user').optional(),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
  }),
  uuid: z.string().optional(),
  session_id: z.string().nullish(),
  /** False: the text is kept for the next turn and starts none. */
  shouldQuery: z.boolean().optional(),
});
export type ClientUserMessage = z.infer<typeof clientUserMessageSchema>;

/** One line of the client's. Other types exist and are skipped. */
export const stdioInputSchema = z.discriminatedUnion('type', [
  controlRequestSchema,
  clientControlResponseSchema,
  clientUserMessageSchema,
]);

/** Bodies of the control requests that do something here, by their subtype. */
export const interruptRequestSchema = z.looseObject({
  /** Another session's id makes the interrupt one without effect. */
  session_id: z.string().nullish(),
  /** Also drops messages that wait for their turn. */
  cancel_queued: z.boolean().nullish(),
});
export const stopTaskRequestSchema = z.looseObject({ task_id: z.string() });
export const setPermissionModeRequestSchema = z.looseObject({ mode: z.string() });
export const setModelRequestSchema = z.looseObject({ model: z.string().nullish() });
export const cancelMessageRequestSchema = z.looseObject({ message_uuid: z.string() });
export const initializeRequestSchema = z.looseObject({
  /** Replaces the instructions of the main conversation; an empty one replaces nothing. */
  systemPrompt: z.union([z.string(), z.array(z.string())]).nullish(),
  appendSystemPrompt: z.string().nullish(),
  hooks: z.record(z.string(), z.unknown()).nullish(),
});

/** What a client says to `can_use_tool`. */
export const permissionAnswerSchema = z.union([
  z.looseObject({ behavior: z.literal('allow'), updatedInput: z.record(z.string(), z.unknown()).nullish() }),
  z.looseObject({ behavior: z.literal('deny'), message: z.string().nullish(), interrupt: z.boolean().nullish() }),
]);
