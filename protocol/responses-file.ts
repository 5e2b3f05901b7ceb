import { z } from 'zod';

const extras = {
  delayMs: z.number().min(0).optional(),
  /** Another stop reason, for example `max_tokens`. */
  stop: z.string().optional(),
  usage: z.object({ input_tokens: z.int().min(0).optional(), output_tokens: z.int().min(0).optional() }).optional(),
};

const block = z.union([
  z.object({ text: z.string() }).strict(),
  z.object({ json: z.unknown() }).strict(),
  z.object({ raw: z.string() }).strict(),
  z.object({ tool: z.object({ name: z.string(), input: z.unknown().optional() }) }).strict(),
]);

/** One turn of a planned answer. Source: spec C-12. */
export const responseTurnSchema = z.union([
  z.object({ text: z.string(), ...extras }).strict(),
  z
    .object({ json: z.unknown(), ...extras })
    .strict()
    .refine((turn) => 'json' in turn),
  z.object({ raw: z.string(), ...extras }).strict(),
  z
    .object({
      error: z.object({
        status: z.int(),
        type: z.string().optional(),
        message: z.string().optional(),
        retryAfterMs: z.number().min(0).optional(),
      }),
      ...extras,
    })
    .strict(),
  z.object({ tool: z.object({ name: z.string(), input: z.unknown().optional() }), ...extras }).strict(),
  z.object({ silentMs: z.number().min(0), ...extras }).strict(),
  z.object({ blocks: z.array(block).min(1), ...extras }).strict(),
  z
    .object({
      cut: z.union([z.string(), z.literal(true)]),
      text: z.string().optional(),
      raw: z.string().optional(),
      ...extras,
    })
    .strict(),
]);
export type ResponseTurn = z.infer<typeof responseTurnSchema>;

export const responseRuleSchema = z
  .object({
    /** A regular expression on the prompt; null or absent matches any. */
    match: z.string().nullable().optional(),
    /** The exact label. */
    label: z.string().optional(),
    /** How many agents it may answer. */
    times: z.int().min(1).optional(),
    reply: z.array(responseTurnSchema).min(1),
  })
  .strict();

/** `--responses FILE`: planned answers for the scripted backend. Source: spec C-12. */
export const responsesFileSchema = z
  .object({
    rules: z.array(responseRuleSchema).optional(),
    default: z.array(responseTurnSchema).min(1).optional(),
  })
  .strict();
export type ResponsesFile = z.infer<typeof responsesFileSchema>;
