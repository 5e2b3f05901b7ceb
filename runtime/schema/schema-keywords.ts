/** A schema in normal form: a boolean, or an object whose keywords are all in {@link KEYWORD_SHAPES}. */
export type SchemaNode = boolean | SchemaObject;
export type SchemaObject = { readonly [keyword: string]: unknown };

/** What the value of a keyword must be. */
export type KeywordShape =
  | 'schema'
  | 'schemas'
  | 'schemaMap'
  | 'type'
  | 'number'
  | 'positive'
  | 'count'
  | 'flag'
  | 'text'
  | 'pattern'
  | 'names'
  | 'nameLists'
  | 'values'
  | 'any';

/** The keywords of JSON Schema 2020-12 that are checked or passed on. Source: JSON Schema Core and Validation, 2020-12. */
export const KEYWORD_SHAPES: Readonly<Record<string, KeywordShape>> = {
  $ref: 'text',
  type: 'type',
  enum: 'values',
  const: 'any',
  title: 'text',
  description: 'text',
  default: 'any',
  examples: 'any',
  deprecated: 'any',
  readOnly: 'any',
  writeOnly: 'any',
  format: 'text',
  pattern: 'pattern',
  minLength: 'count',
  maxLength: 'count',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'positive',
  properties: 'schemaMap',
  patternProperties: 'schemaMap',
  additionalProperties: 'schema',
  unevaluatedProperties: 'schema',
  propertyNames: 'schema',
  required: 'names',
  minProperties: 'count',
  maxProperties: 'count',
  dependentRequired: 'nameLists',
  dependentSchemas: 'schemaMap',
  prefixItems: 'schemas',
  items: 'schema',
  unevaluatedItems: 'schema',
  contains: 'schema',
  minContains: 'count',
  maxContains: 'count',
  minItems: 'count',
  maxItems: 'count',
  uniqueItems: 'flag',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  not: 'schema',
  if: 'schema',
  // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema
  then: 'schema',
  else: 'schema',
  $defs: 'schemaMap',
};

/** Words that say nothing about a value; met in real schemas and dropped without a word. */
export const SILENT_KEYWORDS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  'id',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
  '$comment',
  '$vocabulary',
  'additionalItems',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'nullable',
  'example',
]);

/** Formats that are checked; any other is an annotation. Source: ajv-formats, full set. */
export const KNOWN_FORMATS: ReadonlySet<string> = new Set(
  (
    'date time date-time iso-time iso-date-time duration uri uri-reference uri-template url email hostname ipv4 ipv6 ' +
    'regex uuid json-pointer json-pointer-uri-fragment relative-json-pointer byte int32 int64 float double password binary'
  ).split(' '),
);

export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Gives a copy of `node` in which `change` was applied to each schema directly below it; keys keep their order. */
export function mapSubschemas(
  node: SchemaObject,
  change: (child: SchemaNode, keyword: string) => unknown,
): SchemaObject {
  return Object.fromEntries(
    Object.entries(node).map(([keyword, value]) => {
      switch (KEYWORD_SHAPES[keyword]) {
        case 'schema':
          return [keyword, change(value as SchemaNode, keyword)];
        case 'schemas':
          return [keyword, (value as SchemaNode[]).map((child) => change(child, keyword))];
        case 'schemaMap': {
          const entries = Object.entries(value as Record<string, SchemaNode>);
          return [keyword, Object.fromEntries(entries.map(([name, child]) => [name, change(child, keyword)]))];
        }
        default:
          return [keyword, value];
      }
    }),
  );
}

/** Lists the schemas directly below `node`. */
export function subschemasOf(node: SchemaObject): { readonly keyword: string; readonly child: SchemaNode }[] {
  const found: { keyword: string; child: SchemaNode }[] = [];
  mapSubschemas(node, (child, keyword) => found.push({ keyword, child }));
  return found;
}
