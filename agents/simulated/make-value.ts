import { makeArray } from './make-array.ts';
import { makeNumber } from './make-number.ts';
import { makeObject } from './make-object.ts';
import { makeString, type StringBounds } from './make-string.ts';
import { mergeSchemas, type SchemaNode, type SchemaObject, typeList } from './merge-schemas.ts';
import type { SeededRandom } from './seeded-random.ts';
import { CannotMakeError, DEEP, MAX_VALUES, type ValueMaker } from './value-maker.ts';

const MAX_DEPTH = 60;
const MAX_RESOLVE_STEPS = 300;
const ALL_TYPES = ['string', 'object', 'array', 'integer', 'number', 'boolean', 'null'];

/**
 * Makes a value that satisfies a schema in normal form, as well as it can: `not`, `if` and rarer keywords are left to
 * the caller's check. `growth`, from 1, widens choices from try to try.
 *
 * @throws CannotMakeError
 */
export function makeValue(root: SchemaNode, random: SeededRandom, growth: number): unknown {
  let values = 0;
  const maker: ValueMaker = {
    random,
    growth,
    make(schema, name, depth) {
      values += 1;
      if (values > MAX_VALUES || depth > MAX_DEPTH) throw new CannotMakeError('the schema asks for a very large value');
      return makeResolved(maker, maker.resolve(schema, depth), name, depth);
    },
    resolve: (schema, depth) => resolve({ root, random, growth, depth }, schema, 0),
  };
  return maker.make(root, 'value', 0);
}

function makeResolved(maker: ValueMaker, node: SchemaNode, name: string, depth: number): unknown {
  if (node === false) throw new CannotMakeError(`nothing is allowed as ${name}`);
  if (node === true) return makeString({}, name, maker.random, maker.growth);
  if (Object.hasOwn(node, 'const')) return node.const;
  if (Array.isArray(node.enum)) return pickFrom(maker, node.enum, name);
  const type = pickType(maker, node, name);
  switch (type) {
    case 'object':
      return makeObject(maker, node, depth);
    case 'array':
      return makeArray(maker, node, name, depth);
    case 'string':
      return makeText(maker, node, name);
    case 'integer':
    case 'number':
      return makeNumber(node, type === 'integer', maker.random);
    case 'boolean':
      return maker.random.chance(75);
    default:
      return null;
  }
}

function makeText({ random, growth }: ValueMaker, node: SchemaObject, name: string): string {
  const text = makeString(node as StringBounds, name, random, growth);
  if (text === undefined) throw new CannotMakeError(`no text for ${name} is known`);
  return text;
}

function pickFrom<T>({ random }: ValueMaker, values: readonly T[], name: string): T {
  if (values.length === 0) throw new CannotMakeError(`no value is allowed as ${name}`);
  return random.pick(values);
}

function pickType(maker: ValueMaker, node: SchemaObject, name: string): string {
  const types = node.type === undefined ? impliedTypes(node) : typeList(node.type);
  const filled = types.filter((type) => type !== 'null');
  const preferFilled = filled.length > 0 && (maker.growth === 1 || maker.random.chance(80));
  return pickFrom(maker, preferFilled ? filled : types, name);
}

/** The types that the keywords of an untyped node speak of. */
function impliedTypes(node: SchemaObject): readonly string[] {
  const has = (...keywords: string[]) => keywords.some((keyword) => keyword in node);
  if (has('properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties')) return ['object'];
  if (has('items', 'prefixItems', 'minItems', 'maxItems', 'contains', 'uniqueItems')) return ['array'];
  if (has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')) return ['number'];
  return has('not', 'if') ? ALL_TYPES : ['string'];
}

interface Resolving {
  readonly root: SchemaNode;
  readonly random: SeededRandom;
  readonly growth: number;
  readonly depth: number;
}

function resolve(by: Resolving, schema: SchemaNode, steps: number): SchemaNode {
  if (typeof schema === 'boolean') return schema;
  if (steps > MAX_RESOLVE_STEPS) throw new CannotMakeError('the references of the schema go too far');
  const { $ref, allOf, anyOf, oneOf, $defs: _, ...rest } = schema;
  const unions = [anyOf, oneOf].filter(Array.isArray) as (readonly SchemaNode[])[];
  if ($ref === undefined && allOf === undefined && unions.length === 0) return schema;
  const parts: SchemaNode[] = [rest, ...((allOf as SchemaNode[] | undefined) ?? [])];
  if ($ref !== undefined) parts.push(follow(by.root, $ref as string));
  for (const branches of unions) parts.push(pickBranch(by, branches));
  return parts.map((part) => resolve(by, part, steps + 1)).reduce(mergeSchemas);
}

function follow(root: SchemaNode, reference: string): SchemaNode {
  if (reference === '#') return root;
  const definitions = (root as SchemaObject).$defs as Readonly<Record<string, SchemaNode>>;
  return definitions[reference.slice('#/$defs/'.length)] ?? true;
}

/** Deep down, a branch that ends is better than one that goes on; elsewhere, any other is better than null. */
function pickBranch({ random, growth, depth }: Resolving, branches: readonly SchemaNode[]): SchemaNode {
  const possible = branches.filter((branch) => branch !== false);
  if (possible.length === 0) throw new CannotMakeError('no branch of a union is possible');
  const ending = possible.filter((branch) => !JSON.stringify(branch).includes('"$ref"'));
  if (depth >= DEEP && ending.length > 0) return random.pick(ending);
  const filled = possible.filter((branch) => typeof branch === 'boolean' || branch.type !== 'null');
  return random.pick(filled.length > 0 && (growth === 1 || random.chance(70)) ? filled : possible);
}
