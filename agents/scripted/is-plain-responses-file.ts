import type { ResponsesFile } from '../../protocol/responses-file.ts';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isDelay: Check = (value) => Number.isFinite(value) && (value as number) >= 0;
const isAnything: Check = () => true;

const isError = object({ status: Number.isSafeInteger, type: isText, message: isText, retryAfterMs: isDelay }, [
  'status',
]);
const isTool = object({ name: (value) => isText(value) && value !== '', input: isAnything }, ['name']);
const isUsage = object({ input_tokens: isCount, output_tokens: isCount });

const BLOCK_KINDS = { text: isText, json: isAnything, raw: isText, tool: isTool };
const isBlock = oneOf(BLOCK_KINDS, object(BLOCK_KINDS));

/** What a turn can be, without `cut`: how it goes with others is the schema's to say. */
const TURN_KINDS = { ...BLOCK_KINDS, error: isError, silentMs: isDelay, blocks: listOf(isBlock) };
const isTurn = oneOf(TURN_KINDS, object({ ...TURN_KINDS, delayMs: isDelay, stop: isText, usage: isUsage }));

const isRule = object(
  {
    match: (value) => value === null || isRegex(value),
    label: isText,
    times: (value) => isCount(value) && value !== 0,
    reply: listOf(isTurn),
  },
  ['reply'],
);

/**
 * Tells, without the schema, that a parsed file is what `responsesFileSchema` takes, member for member. Loading the
 * schema library takes longer than all else that a short run of planned answers does.
 *
 * Contract: true only for what the schema takes as it is. False says nothing: then the schema decides, and words the faults.
 */
export const isPlainResponsesFile: (json: unknown) => json is ResponsesFile = object({
  rules: (value) => Array.isArray(value) && value.every(isRule),
  default: listOf(isTurn),
}) as (json: unknown) => json is ResponsesFile;

/** An object with no members but these, each of its kind; the required ones are there. */
function object(members: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  const checks = new Map(Object.entries(members));
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    required.every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, member]) => checks.get(name)?.(member) === true);
}

/** Of these members, exactly one. */
function oneOf(kinds: Readonly<Record<string, Check>>, check: Check): Check {
  const names = new Set(Object.keys(kinds));
  return (value) => check(value) && Object.keys(value as object).filter((name) => names.has(name)).length === 1;
}

/** A list that is not empty. */
function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.length > 0 && value.every(check);
}

function isRegex(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    new RegExp(value);
    return true;
  } catch {
    return false;
  }
}
