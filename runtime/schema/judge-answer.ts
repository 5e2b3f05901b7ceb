import type { AnswerVerdict } from '../ports.ts';
import { type AnswerCandidate, answerCandidates } from './answer-candidates.ts';
import type { SchemaFault, Validator, ValidatorOptions } from './compile-validator.ts';
import { describeFaults, joinFaults } from './describe-faults.ts';
import { isPlainCoercion } from './is-plain-coercion.ts';
import { MAX_ANSWER_DEPTH, parseAnswer } from './parse-answer.ts';
import type { SchemaNode } from './schema-keywords.ts';
import { WRAP_KEY } from './wire-schema.ts';
import { allowWork, WorkExhaustedError } from './work-meter.ts';

/** The validators of one schema, each compiled when it is first needed. */
export type Validators = (options: ValidatorOptions) => Validator;

export interface JudgeOptions {
  /** The schema in normal form. */
  readonly root: SchemaNode;
  /** The output limit cut the text. */
  readonly truncated: boolean;
  /** The wire has `{value: …}`. */
  readonly wrapped: boolean;
  readonly validators: Validators;
}

const WORK_FOR_VERDICT = 10_000_000;
const WORK_PER_CHARACTER = 8;
/** Collecting faults is quadratic in their number at worst. */
const WORK_FOR_ALL_FAULTS = 50_000;

const STRICT = { coerce: false, allFaults: false };
const COERCING = { coerce: true, allFaults: false };

/**
 * Judges the raw JSON text of an answer: parses it, reads it as one of its candidates, coerces types where that is plain.
 * A value that fits as it stands is never changed. Never throws, and its time is bounded.
 */
export function judgeAnswer(rawJson: string, options: JudgeOptions): AnswerVerdict {
  try {
    const maxDepth = options.wrapped ? MAX_ANSWER_DEPTH + 1 : MAX_ANSWER_DEPTH;
    const parsed = parseAnswer(rawJson, maxDepth, options.truncated);
    if (!parsed.ok) return { ok: false, message: parsed.message, errors: [parsed.message] };
    allowWork(WORK_FOR_VERDICT + rawJson.length * WORK_PER_CHARACTER);
    return judgeValue(parsed.value, options);
  } catch (error) {
    const tooMuch = error instanceof WorkExhaustedError || error instanceof RangeError;
    const why = tooMuch
      ? 'checking it against its schema takes too much work. Give a smaller or plainer one'
      : `it could not be checked against its schema (${String((error as Error).message).slice(0, 200)})`;
    const message = `The answer was not accepted: ${why}.`;
    return { ok: false, message, errors: [message] };
  }
}

/** Tells whether a stored value fits as it stands: without unwrapping, without coercion. Never throws. */
export function isStoredValueValid(valueJson: string, validators: Validators): boolean {
  const parsed = parseAnswer(valueJson, MAX_ANSWER_DEPTH, false);
  if (!parsed.ok) return false;
  try {
    allowWork(WORK_FOR_VERDICT + valueJson.length * WORK_PER_CHARACTER);
    return validators(STRICT)({ value: parsed.value }).length === 0;
  } catch {
    return false;
  }
}

function judgeValue(input: unknown, { root, wrapped, validators }: JudgeOptions): AnswerVerdict {
  const candidates = answerCandidates(input, root, wrapped);
  for (const { value } of candidates) {
    const valueJson = acceptedJson(value, validators);
    if (valueJson !== undefined) return { ok: true, valueJson };
  }
  const [first] = candidates as readonly [AnswerCandidate];
  const unwrapped = wrapped && first.path === '';
  const errors = unwrapped
    ? [`${WRAP_KEY}: the property "${WRAP_KEY}", which is to hold the answer, is missing`]
    : faultLines(first, validators);
  return { ok: false, message: joinFaults(errors), errors };
}

/** JSON text of the value, with its types coerced where it needs that; undefined when it does not fit. */
function acceptedJson(value: unknown, validators: Validators): string | undefined {
  if (validators(STRICT)({ value }).length === 0) return JSON.stringify(value);
  const coerced = { value: copyOf(value) };
  if (validators(COERCING)(coerced).length > 0) return undefined;
  if (!isPlainCoercion(value, coerced.value) || validators(STRICT)(coerced).length > 0) return undefined;
  return JSON.stringify(coerced.value);
}

/** Every fault that coercion does not mend, and each null that it would have had to invent a value for. */
function faultLines({ value, path }: AnswerCandidate, validators: Validators): readonly string[] {
  const coerced = { value: copyOf(value) };
  const mended = collectFaults(coerced, { coerce: true, allFaults: true }, validators);
  const strict = collectFaults({ value }, { coerce: false, allFaults: true }, validators);
  const nulls = strict.filter(({ keyword, data }) => keyword === 'type' && data === null);
  const lines = [
    ...describeFaults(mended, coerced.value, path),
    ...(mended.length === 0 ? describeFaults(nulls.length > 0 ? nulls : strict, value, path) : []),
  ];
  return lines.length > 0 ? lines : ['the answer: does not match its schema'];
}

function collectFaults(
  holder: { value: unknown },
  options: ValidatorOptions,
  validators: Validators,
): readonly SchemaFault[] {
  try {
    allowWork(WORK_FOR_ALL_FAULTS);
    return validators(options)(holder);
  } catch (error) {
    if (!(error instanceof WorkExhaustedError)) throw error;
    allowWork(WORK_FOR_VERDICT);
    return validators({ ...options, allFaults: false })(holder);
  }
}

function copyOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
