import { checkContradictions } from './check-contradictions.ts';
import { checkKeyword } from './check-keyword.ts';
import { modernizeNode } from './modernize-node.ts';
import { createReferenceIndex } from './resolve-reference.ts';
import {
  isSchemaObject,
  KEYWORD_SHAPES,
  type KeywordShape,
  KNOWN_FORMATS,
  type SchemaNode,
  type SchemaObject,
  SILENT_KEYWORDS,
} from './schema-keywords.ts';
import { UnusableSchemaError } from './unusable-schema-error.ts';

/** Bounds on a schema. */
export const MAX_SCHEMA_DEPTH = 64;
const MAX_NODES = 200_000;
const MAX_PATTERN_SIZE = 200_000;

/**
 * A schema in normal form: 2020-12, known keywords only, `$defs` at the root and nowhere else, each `$ref` either `#` or
 * `#/$defs/<name>` with a name of letters, digits, `_`, `.` and `-`.
 */
export interface NormalSchema {
  readonly root: SchemaNode;
  /** For a person: unknown keywords and formats, each once. */
  readonly warnings: readonly string[];
}

/**
 * Brings an author's schema into normal form and checks it on the way. Drafts 4 to 2020-12 and OpenAPI's
 * `nullable` are understood.
 *
 * @throws UnusableSchemaError
 */
export function normalizeSchema(document: unknown): NormalSchema {
  const index = createReferenceIndex(document);
  const warnings = new Set<string>();
  const definitions = new Map<string, { readonly name: string; readonly target: unknown; node?: SchemaNode }>();
  const names = new Set<string>();
  let nodes = 0;
  let patternSize = 0;

  const refer = (reference: string, place: string): string => {
    const { pointer, target } = index.resolve(reference, place);
    if (pointer === '#') return '#';
    const known = definitions.get(pointer);
    if (known !== undefined) return `#/$defs/${known.name}`;
    const name = freeName(pointer, names);
    definitions.set(pointer, { name, target });
    return `#/$defs/${name}`;
  };

  const visit = (value: unknown, place: string, depth: number): SchemaNode => {
    if (typeof value === 'boolean') return value;
    if (!isSchemaObject(value)) {
      throw new UnusableSchemaError(
        `The schema at ${place} must be an object or a boolean, but is ${describe(value)}.`,
      );
    }
    nodes += 1;
    if (depth > MAX_SCHEMA_DEPTH)
      throw new UnusableSchemaError(`The schema is nested more than ${MAX_SCHEMA_DEPTH} deep.`);
    if (nodes > MAX_NODES) throw new UnusableSchemaError(`The schema has more than ${MAX_NODES} parts.`);
    const node = Object.fromEntries(Object.entries(modernizeNode(value)).flatMap((entry) => keep(entry, place, depth)));
    checkContradictions(node, place);
    return node;
  };

  const keep = ([keyword, value]: [string, unknown], place: string, depth: number): [string, unknown][] => {
    if (keyword === '$defs' || keyword === 'definitions') {
      if (isSchemaObject(value)) visitMap(value, place, depth);
      return [];
    }
    if ((keyword === 'title' || keyword === 'description') && typeof value !== 'string') return [];
    const shape = Object.hasOwn(KEYWORD_SHAPES, keyword) ? KEYWORD_SHAPES[keyword] : undefined;
    if (shape === undefined) {
      if (!SILENT_KEYWORDS.has(keyword) && !keyword.startsWith('x-')) warnings.add(`unknown keyword ${clip(keyword)}`);
      return [];
    }
    patternSize += checkKeyword(keyword, shape, value, place);
    if (patternSize > MAX_PATTERN_SIZE)
      throw new UnusableSchemaError('The patterns of the schema are too large together.');
    if (keyword === 'format' && !KNOWN_FORMATS.has(value as string))
      warnings.add(`unknown format ${clip(value as string)}`);
    return [[keyword, convert(keyword, shape, value, place, depth)]];
  };

  const convert = (keyword: string, shape: KeywordShape, value: unknown, place: string, depth: number): unknown => {
    switch (shape) {
      case 'schema':
        return visit(value, step(place, keyword), depth + 1);
      case 'schemas':
        return (value as unknown[]).map((child, at) => visit(child, `${step(place, keyword)}[${at}]`, depth + 1));
      case 'schemaMap':
        return visitMap(value as SchemaObject, keyword === 'properties' ? place : step(place, keyword), depth);
      case 'type':
        return Array.isArray(value) && value.length === 1 ? value[0] : value;
      case 'text':
        return keyword === '$ref' ? refer(value as string, place) : value;
      default:
        return value;
    }
  };

  const visitMap = (map: SchemaObject, place: string, depth: number) =>
    Object.fromEntries(Object.entries(map).map(([name, child]) => [name, visit(child, step(place, name), depth + 1)]));

  const root = impliedObject(visit(document, '(root)', 1));
  for (const [pointer, definition] of definitions) definition.node = visit(definition.target, pointer, 1);
  if (definitions.size === 0 || typeof root === 'boolean') return { root, warnings: [...warnings] };
  const $defs = Object.fromEntries([...definitions.values()].map(({ name, node }) => [name, node]));
  return { root: { ...root, $defs }, warnings: [...warnings] };
}

/** A root that speaks of properties alone means an object. */
function impliedObject(root: SchemaNode): SchemaNode {
  if (typeof root === 'boolean' || 'type' in root) return root;
  const others = ['$ref', 'enum', 'const', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'items', 'prefixItems', 'contains'];
  const speaksOfProperties = ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'];
  if (others.some((key) => key in root) || !speaksOfProperties.some((key) => key in root)) return root;
  return { type: 'object', ...root };
}

function freeName(pointer: string, taken: Set<string>): string {
  let last = pointer.slice(pointer.lastIndexOf('/') + 1);
  try {
    last = decodeURIComponent(last);
  } catch {
    // Kept as it stands.
  }
  const base = last.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 60) || 'part';
  let name = base;
  for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
  taken.add(name);
  return name;
}

function step(place: string, name: string): string {
  return place === '(root)' ? clip(name) : `${place}.${clip(name)}`;
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return value === undefined ? 'missing' : `the ${typeof value} ${clip(String(value))}`;
}
