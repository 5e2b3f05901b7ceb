import { z } from 'zod';

/** Version of the rows of `sessions/<id>.jsonl`. */
export const SESSION_VERSION = 1;

const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), rawInput: z.string() }),
  /** A block that is only handed back to the provider, such as thinking. */
  z.object({ type: z.literal('opaque'), block: z.record(z.string(), z.unknown()) }),
]);

/** One message of a stored main conversation. */
export const sessionMessageSchema = z.union([
  z.object({ role: z.literal('assistant'), blocks: z.array(block) }),
  z.object({ role: z.literal('user'), text: z.string() }),
  z.object({
    role: z.literal('user'),
    toolResults: z.array(z.object({ toolUseId: z.string(), content: z.string(), isError: z.boolean() })),
  }),
]);

/** The first row of a session says where it was held; the others are its messages, in order. */
export const sessionRowSchema = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('session'),
    v: z.literal(SESSION_VERSION),
    sessionId: z.string(),
    cwd: z.string(),
    /** Epoch ms. */
    at: z.number(),
  }),
  z.looseObject({ type: z.literal('message'), message: sessionMessageSchema }),
]);
export type SessionRow = z.infer<typeof sessionRowSchema>;
