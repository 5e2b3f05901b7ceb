import { type GuestMessage, MAX_LOG_CHARACTERS } from '../../dsl/wire.ts';

/** Thrown for anything that an honest guest would not send. */
export class BadGuestMessage extends Error {}

/** Titles and scopes hold names of workflows, which may be as long as a script (S-1). */
const MAX_TITLE_CHARACTERS = 600_000;
const MAX_SCOPE_CHARACTERS = 1_200_000;
const MAX_ERROR_TEXT_CHARACTERS = 120_000;
const MAX_CAUSES = 10;
const MAX_WARNINGS = 100;

/**
 * Reads a batch of the guest and checks every field by hand (S-31): nothing that the sandbox sends is trusted, and this runs
 * for every call.
 *
 * @throws BadGuestMessage
 */
export function decodeGuestBatch(json: string): readonly GuestMessage[] {
  let batch: unknown;
  try {
    batch = JSON.parse(json);
  } catch {
    throw new BadGuestMessage('a batch that is not JSON');
  }
  if (!Array.isArray(batch)) throw new BadGuestMessage('a batch that is not a list');
  for (const message of batch as unknown[]) check(message);
  return batch as readonly GuestMessage[];
}

function check(message: unknown): void {
  if (!Array.isArray(message)) throw new BadGuestMessage('a message that is not a list');
  const fields = message as readonly unknown[];
  const checkFields = CHECKS[fields[0] as GuestMessage[0]];
  if (typeof fields[0] !== 'string' || !Object.hasOwn(CHECKS, fields[0]) || !checkFields(fields)) {
    throw new BadGuestMessage(`a malformed message: ${JSON.stringify(message).slice(0, 200)}`);
  }
}

type Check = (fields: readonly unknown[]) => boolean;

const CHECKS: Readonly<Record<GuestMessage[0], Check>> = {
  agent: ([, id, prompt, opts, scope, phase, workflow, ...rest]) =>
    isId(id) &&
    isText(prompt) &&
    isOptionalText(opts) &&
    isText(scope, MAX_SCOPE_CHARACTERS) &&
    isOptionalText(phase, MAX_TITLE_CHARACTERS) &&
    isOptionalText(workflow, MAX_TITLE_CHARACTERS) &&
    rest.length === 0,
  workflow: ([, id, ref, args, depth, callerFile, ...rest]) =>
    isId(id) &&
    isRef(ref) &&
    isOptionalText(args) &&
    isId(depth) &&
    isText(callerFile, MAX_SCOPE_CHARACTERS) &&
    rest.length === 0,
  fan: ([, id, helper, count, ...rest]) =>
    isId(id) && (helper === 'parallel' || helper === 'pipeline') && isCount(count) && rest.length === 0,
  limit: ([, code, message, ...rest]) =>
    code === 'LIMIT_ITEMS' && isText(message, MAX_TITLE_CHARACTERS) && rest.length === 0,
  phase: ([, title, child, ...rest]) =>
    isText(title, MAX_TITLE_CHARACTERS) && typeof child === 'boolean' && rest.length === 0,
  log: ([, level, text, ...rest]) =>
    (level === 'debug' || level === 'info' || level === 'warn' || level === 'error') &&
    isText(text, MAX_LOG_CHARACTERS + 100) &&
    rest.length === 0,
  part: ([, helper, index, stage, scope, error, ...rest]) =>
    (helper === 'parallel' || helper === 'pipeline') &&
    isCount(index) &&
    (stage === null || isCount(stage)) &&
    isText(scope, MAX_SCOPE_CHARACTERS) &&
    isError(error, 0) &&
    rest.length === 0,
  returned: ([, valueJson, warnings, ...rest]) =>
    (valueJson === null || isJson(valueJson)) &&
    Array.isArray(warnings) &&
    warnings.length <= MAX_WARNINGS &&
    warnings.every((warning) => isText(warning, MAX_ERROR_TEXT_CHARACTERS)) &&
    rest.length === 0,
  threw: ([, error, ...rest]) => isError(error, 0) && rest.length === 0,
  'not-json': ([, path, what, ...rest]) => isText(path) && isText(what) && rest.length === 0,
};

function isText(value: unknown, maxCharacters = Number.POSITIVE_INFINITY): boolean {
  return typeof value === 'string' && value.length <= maxCharacters;
}

function isOptionalText(value: unknown, maxCharacters?: number): boolean {
  return value === null || isText(value, maxCharacters);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isId(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isJson(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

function isRef(value: unknown): boolean {
  if (!isPlain(value)) return false;
  const keys = Object.keys(value);
  return keys.length === 1 && (keys[0] === 'name' || keys[0] === 'scriptPath') && isText(value[keys[0]], 10_000);
}

function isError(value: unknown, depth: number): boolean {
  if (!isPlain(value) || depth > MAX_CAUSES) return false;
  return (
    isText(value.name, MAX_ERROR_TEXT_CHARACTERS) &&
    isText(value.message, MAX_ERROR_TEXT_CHARACTERS) &&
    (value.code === undefined || isText(value.code, 100)) &&
    (value.file === undefined || isText(value.file, MAX_SCOPE_CHARACTERS)) &&
    (value.line === undefined || isCount(value.line)) &&
    (value.column === undefined || isCount(value.column)) &&
    (value.stack === undefined || isText(value.stack, MAX_ERROR_TEXT_CHARACTERS)) &&
    (value.cause === undefined || isError(value.cause, depth + 1)) &&
    Object.keys(value).every((key) => ERROR_KEYS.includes(key))
  );
}

const ERROR_KEYS = ['name', 'message', 'code', 'file', 'line', 'column', 'stack', 'cause'];

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
