import { isSchemaObject, mapSubschemas, type SchemaNode, type SchemaObject } from './schema-keywords.ts';

/** A schema as a provider takes it, and whether the author's root went under `value`. */
export interface WireSchema {
  readonly wireSchema: SchemaObject;
  readonly wrapped: boolean;
}

/** The key of a wrapped root. */
export const WRAP_KEY = 'value';

/** Formats that providers name as supported; others go into the description. */
const WIRE_FORMATS: ReadonlySet<string> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);

/** Bounds that some provider refuses, and how a model is told of them instead. */
const BOUND_WORDS: Readonly<Record<string, (value: unknown) => string>> = {
  minLength: (value) => `at least ${value} characters`,
  maxLength: (value) => `at most ${value} characters`,
  pattern: (value) => `matches the regular expression ${value}`,
  minimum: (value) => `minimum ${value}`,
  maximum: (value) => `maximum ${value}`,
  exclusiveMinimum: (value) => `above ${value}`,
  exclusiveMaximum: (value) => `below ${value}`,
  multipleOf: (value) => `a multiple of ${value}`,
  minItems: (value) => `at least ${value} items`,
  maxItems: (value) => `at most ${value} items`,
  uniqueItems: () => 'items differ',
  minProperties: (value) => `at least ${value} properties`,
  maxProperties: (value) => `at most ${value} properties`,
  format: (value) => `format ${value}`,
};

/**
 * Writes a schema in normal form for the input of a tool: the root is an object without unions, which wraps any
 * other root as `{value: …}`; bounds that a wire may refuse stand in descriptions.
 */
export function toWireSchema(root: SchemaNode): WireSchema {
  if (isPlainObject(root)) return { wireSchema: moveBounds(root) as SchemaObject, wrapped: false };
  const name = freeRootName(root);
  const renamed = renameRoot(root, `#/$defs/${name}`);
  const { $defs, ...body } = isSchemaObject(renamed.node) ? renamed.node : ({} as SchemaObject);
  const definitions = { ...($defs as object | undefined), ...(renamed.used ? { [name]: body } : {}) };
  const wireSchema = {
    type: 'object',
    properties: { [WRAP_KEY]: renamed.used ? { $ref: `#/$defs/${name}` } : body },
    required: [WRAP_KEY],
    additionalProperties: false,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }),
  };
  return { wireSchema: moveBounds(wireSchema) as SchemaObject, wrapped: true };
}

function isPlainObject(root: SchemaNode): root is SchemaObject {
  return (
    isSchemaObject(root) && root.type === 'object' && !['$ref', 'anyOf', 'oneOf', 'allOf'].some((key) => key in root)
  );
}

function freeRootName(root: SchemaNode): string {
  const taken = isSchemaObject(root) && isSchemaObject(root.$defs) ? root.$defs : {};
  let name = 'root';
  while (Object.hasOwn(taken, name)) name += '_';
  return name;
}

function renameRoot(root: SchemaNode, reference: string): { readonly node: SchemaNode; readonly used: boolean } {
  let used = false;
  const rename = (node: SchemaNode): SchemaNode => {
    if (typeof node === 'boolean') return node;
    const copy = mapSubschemas(node, rename);
    if (copy.$ref !== '#') return copy;
    used = true;
    return { ...copy, $ref: reference };
  };
  return { node: rename(root), used };
}

function moveBounds(node: SchemaNode): SchemaNode {
  if (typeof node === 'boolean') return node;
  const words: string[] = [];
  const kept = Object.entries(mapSubschemas(node, moveBounds)).filter(([keyword, value]) => {
    const say = refusedBound(keyword, value);
    if (say !== undefined) words.push(say(typeof value === 'string' ? value.slice(0, 200) : value));
    return say === undefined;
  });
  return words.length === 0 ? Object.fromEntries(kept) : describeWith(Object.fromEntries(kept), words);
}

function refusedBound(keyword: string, value: unknown): ((value: unknown) => string) | undefined {
  if (keyword === 'minItems' && (value as number) <= 1) return undefined;
  if (keyword === 'uniqueItems' && value === false) return undefined;
  if (keyword === 'format' && WIRE_FORMATS.has(value as string)) return undefined;
  return Object.hasOwn(BOUND_WORDS, keyword) ? BOUND_WORDS[keyword] : undefined;
}

function describeWith(node: SchemaObject, words: readonly string[]): SchemaObject {
  const addition = `(${words.join(', ')})`;
  const description = typeof node.description === 'string' ? `${node.description} ${addition}` : addition;
  return { ...node, description };
}

const NOT_STRICT: ReadonlySet<string> = new Set([
  'patternProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'contains',
  'minContains',
  'maxContains',
  'not',
  'if',
  'then',
  'else',
]);

/**
 * Narrows a wire schema for providers that ask for `additionalProperties: false` at every depth. Undefined when it
 * would then refuse answers that the author wants: free-form objects, maps, untyped parts.
 */
export function strictWireSchema(wireSchema: SchemaObject): SchemaObject | undefined {
  let possible = true;
  const narrow = (node: SchemaNode): SchemaNode => {
    if (typeof node === 'boolean' || Object.keys(node).some((keyword) => NOT_STRICT.has(keyword))) possible = false;
    if (typeof node === 'boolean') return node;
    const { additionalProperties, ...rest } = node;
    const types = Array.isArray(rest.type) ? rest.type : [rest.type];
    const isObject = types.includes('object') || 'properties' in rest;
    const free = isSchemaObject(additionalProperties) || (!('properties' in rest) && additionalProperties !== false);
    if (isObject && free) possible = false;
    const copy = mapSubschemas(rest, narrow);
    return isObject ? { ...copy, additionalProperties: false } : copy;
  };
  const strict = narrow(wireSchema);
  return possible ? (strict as SchemaObject) : undefined;
}
