import { referenced } from './check-recursion.ts';
import { MAX_ANSWER_DEPTH, parseAnswer } from './parse-answer.ts';
import { isSchemaObject, type SchemaNode } from './schema-keywords.ts';
import { WRAP_KEY } from './wire-schema.ts';

/** A reading of what the model sent: the value the script may get, and its path within the input. */
export interface AnswerCandidate {
  readonly value: unknown;
  readonly path: string;
}

/**
 * Lists how an answer may be read, best first: as the wire asks for it, then unwrapped once: from a JSON text, or
 * from an object with one key that the schema does not know. With `wrapped`, the wire asks for `{value: …}`, and the bare
 * value is taken as well.
 */
export function answerCandidates(input: unknown, root: SchemaNode, wrapped: boolean): readonly AnswerCandidate[] {
  const bare = { value: input, path: '' };
  if (!wrapped) return [bare, ...fromText(bare), ...fromOneKey(input, root)];
  const inner = innerValue(input);
  if (inner !== undefined) return [inner, bare, ...fromText(inner)];
  const texts = fromText(bare).flatMap((text) => {
    const within = innerValue(text.value);
    return within === undefined ? [text] : [within, text];
  });
  return [bare, ...texts, ...fromOneKey(input, root)];
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

function fromOneKey(input: unknown, root: SchemaNode): readonly AnswerCandidate[] {
  if (!isObject(input)) return [];
  const [key, ...others] = Object.keys(input);
  if (key === undefined || others.length > 0 || knowsProperty(root, key)) return [];
  return [{ value: Reflect.get(input, key), path: key }];
}

/** Whether a schema names the property, so that it is part of the answer and no wrapper. */
function knowsProperty(root: SchemaNode, name: string): boolean {
  if (typeof root === 'boolean') return false;
  const applied = new Set<SchemaNode>([root]);
  for (const node of applied) {
    if (typeof node === 'boolean') continue;
    if (isSchemaObject(node.properties) && Object.hasOwn(node.properties, name)) return true;
    for (const list of [node.allOf, node.anyOf, node.oneOf]) {
      for (const child of (list as readonly SchemaNode[] | undefined) ?? []) applied.add(child);
    }
    if (typeof node.$ref === 'string') applied.add(referenced(root, node.$ref));
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
