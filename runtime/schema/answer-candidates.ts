import { MAX_ANSWER_DEPTH, parseAnswer } from './parse-answer.ts';
import { WRAP_KEY } from './wire-schema.ts';

/** A reading of what the model sent: the value the script may get, and its path within the input. */
export interface AnswerCandidate {
  readonly value: unknown;
  readonly path: string;
}

/**
 * Lists how an answer may be read, best first: as the wire asks for it, then unwrapped once: from a JSON text, or
 * from an object with one key. With `wrapped`, the wire asks for `{value: …}`, and the bare value is taken as well.
 */
export function answerCandidates(input: unknown, wrapped: boolean): readonly AnswerCandidate[] {
  if (!wrapped) return [{ value: input, path: '' }, ...unwrap(input, '')];
  const inner = innerValue(input);
  if (inner !== undefined) return [inner, { value: input, path: '' }, ...fromText(inner)];
  const bare = { value: input, path: '' };
  const texts = fromText(bare).flatMap((text) => {
    const within = innerValue(text.value);
    return within === undefined ? [text] : [within, text];
  });
  return [bare, ...texts, ...fromOneKey(input)];
}

function unwrap(input: unknown, path: string): readonly AnswerCandidate[] {
  return [...fromText({ value: input, path }), ...fromOneKey(input)];
}

function innerValue(input: unknown): AnswerCandidate | undefined {
  const holds = isObject(input) && Object.hasOwn(input, WRAP_KEY);
  return holds ? { value: Reflect.get(input, WRAP_KEY), path: WRAP_KEY } : undefined;
}

function fromText({ value, path }: AnswerCandidate): readonly AnswerCandidate[] {
  if (typeof value !== 'string') return [];
  const parsed = parseAnswer(value, MAX_ANSWER_DEPTH, false);
  return parsed.ok ? [{ value: parsed.value, path }] : [];
}

function fromOneKey(input: unknown): readonly AnswerCandidate[] {
  if (!isObject(input)) return [];
  const [key, ...others] = Object.keys(input);
  return key === undefined || others.length > 0 ? [] : [{ value: Reflect.get(input, key), path: key }];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
