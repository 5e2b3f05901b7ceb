import { z } from 'zod';

const toolSchema = z.strictObject({ name: z.string().min(1), input: z.unknown().optional() });

const errorSchema = z.strictObject({
  status: z.int(),
  type: z.string().optional(),
  message: z.string().optional(),
  retryAfterMs: z.number().min(0).optional(),
});

const usageSchema = z.object({
  input_tokens: z.int().min(0).optional(),
  output_tokens: z.int().min(0).optional(),
});

/** One content block of a message that has several. */
export const responseBlockSchema = z
  .strictObject({
    text: z.string().optional(),
    json: z.unknown().optional(),
    raw: z.string().optional(),
    tool: toolSchema.optional(),
  })
  .superRefine((block, context) => requireOneOf(block, ['text', 'json', 'raw', 'tool'], context));
export type ResponseBlock = z.infer<typeof responseBlockSchema>;

/** What a turn can be; exactly one of these is present, except that `cut` may come with the text or raw it cuts. */
export const RESPONSE_TURN_KINDS = ['text', 'json', 'raw', 'error', 'tool', 'silentMs', 'blocks', 'cut'] as const;

/** One turn of a planned answer. Source: spec C-12. */
export const responseTurnSchema = z
  .strictObject({
    text: z.string().optional(),
    /** Input of a StructuredOutput call. */
    json: z.unknown().optional(),
    /** The same as raw JSON text, which may be broken. */
    raw: z.string().optional(),
    error: errorSchema.optional(),
    tool: toolSchema.optional(),
    /** Nothing for so long, then the next turn. */
    silentMs: z.number().min(0).optional(),
    blocks: z.array(responseBlockSchema).min(1).optional(),
    /** The stream ends without `message_stop`. */
    cut: z.union([z.string(), z.literal(true)]).optional(),
    delayMs: z.number().min(0).optional(),
    /** Another stop reason, for example `max_tokens`. */
    stop: z.string().optional(),
    usage: usageSchema.optional(),
  })
  .superRefine((turn, context) => {
    if ('cut' in turn) requireOneOf({ ...turn, text: undefined, raw: undefined }, RESPONSE_TURN_KINDS, context);
    else requireOneOf(turn, RESPONSE_TURN_KINDS, context);
  });
export type ResponseTurn = z.infer<typeof responseTurnSchema>;

export const responseRuleSchema = z.strictObject({
  /** A regular expression on the prompt; null or absent matches any. */
  match: z.string().nullable().optional().superRefine(requireRegex),
  /** The exact label. */
  label: z.string().optional(),
  /** How many agents it may answer. */
  times: z.int().min(1).optional(),
  reply: z.array(responseTurnSchema).min(1),
});
export type ResponseRule = z.infer<typeof responseRuleSchema>;

/** `--responses FILE`: planned answers for the scripted backend. Source: spec C-12. */
export const responsesFileSchema = z.strictObject({
  rules: z.array(responseRuleSchema).optional(),
  default: z.array(responseTurnSchema).min(1).optional(),
});
export type ResponsesFile = z.infer<typeof responsesFileSchema>;

function requireOneOf(value: object, kinds: readonly string[], context: z.RefinementCtx): void {
  const present = kinds.filter((kind) => kind in value && (kind === 'json' || value[kind as never] !== undefined));
  if (present.length === 1) return;
  const found = present.length === 0 ? 'none' : present.join(' and ');
  context.addIssue({ code: 'custom', message: `expected exactly one of ${kinds.join(', ')}; found ${found}` });
}

function requireRegex(source: string | null | undefined, context: z.RefinementCtx): void {
  if (source === null || source === undefined) return;
  try {
    new RegExp(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    context.addIssue({ code: 'custom', message: `no regular expression: ${reason}` });
  }
}
