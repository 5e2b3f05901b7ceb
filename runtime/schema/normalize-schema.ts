import { checkContradictions } from './check-contradictions.ts';
import { checkKeyword } from './check-keyword.ts';
import { createDefinitions, type Definitions } from './hoist-definitions.ts';
import { modernizeNode } from './modernize-node.ts';
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

/** Bounds on a schema. Compiling takes about a tenth of a millisecond for each part. */
const MAX_DEPTH = 64;
const MAX_NODES = 10_000;
const MAX_PATTERN_SIZE = 100_000;

/**
 * A schema in normal form: 2020-12, known keywords only, `$defs` at the root and nowhere else, each `$ref` either `#` or
 * `#/$defs/<name>` with a name of letters, digits, `_`, `.` and `-`.
 */
export interface NormalSchema {
  readonly root: SchemaNode;
  /** For a person: unknown keywords and formats, each once. */
  readonly warnings: readonly string[];
}

/** One pass over a document. */
interface Pass {
  readonly definitions: Definitions;
  readonly warnings: Set<string>;
  nodes: number;
  patternSize: number;
}

/** Where a node stands: a path for people, and how deep. */
interface Place {
  readonly path: string;
  readonly depth: number;
}

/**
 * Brings an author's schema into normal form and checks it on the way. Drafts 4 to 2020-12 and OpenAPI's
 * `nullable` are understood.
 *
 * @throws UnusableSchemaError
 */
export function normalizeSchema(document: unknown): NormalSchema {
  const pass: Pass = { definitions: createDefinitions(document), warnings: new Set(), nodes: 0, patternSize: 0 };
  const root = impliedObject(visit(pass, document, { path: '(root)', depth: 1 }));
  const $defs: Record<string, SchemaNode> = {};
  for (const { name, target, pointer } of pass.definitions.referenced()) {
    $defs[name] = visit(pass, target, { path: pointer, depth: 1 });
  }
  const warnings = [...pass.warnings];
  if (typeof root === 'boolean' || Object.keys($defs).length === 0) return { root, warnings };
  return { root: { ...root, $defs }, warnings };
}

function visit(pass: Pass, value: unknown, place: Place): SchemaNode {
  if (typeof value === 'boolean') return value;
  if (!isSchemaObject(value)) {
    throw new UnusableSchemaError(
      `The schema at ${place.path} must be an object or a boolean, but is ${describe(value)}.`,
    );
  }
  pass.nodes += 1;
  if (place.depth > MAX_DEPTH) throw new UnusableSchemaError(`The schema is nested more than ${MAX_DEPTH} deep.`);
  if (pass.nodes > MAX_NODES) throw new UnusableSchemaError(`The schema has more than ${MAX_NODES} parts.`);
  const entries = Object.entries(modernizeNode(value));
  const node = Object.fromEntries(entries.flatMap(([keyword, held]) => keepKeyword(pass, keyword, held, place)));
  checkContradictions(node, place.path);
  return node;
}

/** Gives the keyword in normal form, or nothing when it is no part of that. */
function keepKeyword(pass: Pass, keyword: string, value: unknown, place: Place): [string, unknown][] {
  if (keyword === '$defs' || keyword === 'definitions') {
    if (isSchemaObject(value)) visitMap(pass, value, place); // checked, and kept only where something refers to it
    return [];
  }
  const shape = Object.hasOwn(KEYWORD_SHAPES, keyword) ? KEYWORD_SHAPES[keyword] : undefined;
  if (shape === undefined) {
    const silent = SILENT_KEYWORDS.has(keyword) || keyword.startsWith('x-');
    if (!silent) pass.warnings.add(`unknown keyword ${clip(keyword)}`);
    return [];
  }
  if ((keyword === 'title' || keyword === 'description') && typeof value !== 'string') return [];
  pass.patternSize += checkKeyword(keyword, shape, value, place.path);
  if (pass.patternSize > MAX_PATTERN_SIZE) {
    throw new UnusableSchemaError('The patterns of the schema are too large together.');
  }
  if (keyword === 'format' && !KNOWN_FORMATS.has(value as string)) {
    pass.warnings.add(`unknown format ${clip(value as string)}`);
  }
  return [[keyword, normalValue(pass, keyword, shape, value, place)]];
}

function normalValue(pass: Pass, keyword: string, shape: KeywordShape, value: unknown, place: Place): unknown {
  switch (shape) {
    case 'schema':
      return visit(pass, value, below(place, keyword));
    case 'schemas':
      return (value as unknown[]).map((child, at) => visit(pass, child, below(place, `${keyword}[${at}]`)));
    case 'schemaMap': {
      const around = keyword === 'properties' ? place : { ...below(place, keyword), depth: place.depth };
      return visitMap(pass, value as SchemaObject, around);
    }
    case 'type':
      return Array.isArray(value) && value.length === 1 ? value[0] : value;
    case 'text':
      return keyword === '$ref' ? pass.definitions.refer(value as string, place.path) : value;
    default:
      return value;
  }
}

function visitMap(pass: Pass, map: SchemaObject, place: Place): Record<string, SchemaNode> {
  const entries = Object.entries(map);
  return Object.fromEntries(entries.map(([name, child]) => [name, visit(pass, child, below(place, name))]));
}

function below({ path, depth }: Place, name: string): Place {
  return { path: path === '(root)' ? clip(name) : `${path}.${clip(name)}`, depth: depth + 1 };
}

/** A root that speaks of properties alone means an object. */
function impliedObject(root: SchemaNode): SchemaNode {
  if (typeof root === 'boolean' || 'type' in root) return root;
  const others = ['$ref', 'enum', 'const', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'items', 'prefixItems', 'contains'];
  const ofProperties = ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'];
  if (others.some((key) => key in root) || !ofProperties.some((key) => key in root)) return root;
  return { type: 'object', ...root };
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return value === undefined ? 'missing' : `the ${typeof value} ${clip(String(value))}`;
}
