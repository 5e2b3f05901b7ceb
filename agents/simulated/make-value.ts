import { makeString, type StringBounds } from './make-string.ts';
import { mergeSchemas, type SchemaNode, type SchemaObject, typeList } from './merge-schemas.ts';
import { samplePattern } from './sample-pattern.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Thrown when no value can be made on this way; another throw of the dice may fare better. */
export class CannotMakeError extends Error {}

const MAX_NODES = 20_000;
const DEEP = 4;
const MAX_DEPTH = 60;
const ALL_TYPES = ['string', 'object', 'array', 'integer', 'number', 'boolean', 'null'];

/**
 * Makes a value that satisfies a schema in normal form, as well as it can: `not`, `if` and rarer keywords are left to
 * the caller's check. `growth`, from 1, widens choices from try to try.
 *
 * @throws CannotMakeError
 */
export function makeValue(root: SchemaNode, random: SeededRandom, growth: number): unknown {
  let nodes = 0;

  const make = (schema: SchemaNode, name: string, depth: number): unknown => {
    nodes += 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH) throw new CannotMakeError('the schema asks for a very large value');
    const node = resolve(schema, depth, 0);
    if (node === true) return makeString({}, name, random, growth);
    if (node === false) throw new CannotMakeError(`nothing is allowed as ${name}`);
    if (Object.hasOwn(node, 'const')) return node.const;
    if (Array.isArray(node.enum)) return makeOneOf(node.enum, name);
    switch (pickType(node, name)) {
      case 'object':
        return makeObject(node, depth);
      case 'array':
        return makeArray(node, name, depth);
      case 'string':
        return makeText(node, name);
      case 'integer':
        return makeNumber(node, name, true);
      case 'number':
        return makeNumber(node, name, false);
      case 'boolean':
        return random.chance(75);
      default:
        return null;
    }
  };

  /** Follows references and settles unions, so that one plain node is left. */
  const resolve = (schema: SchemaNode, depth: number, steps: number): SchemaNode => {
    if (typeof schema === 'boolean') return schema;
    if (steps > 300) throw new CannotMakeError('the schema refers to itself');
    const { $ref, allOf, anyOf, oneOf, $defs: _, ...rest } = schema;
    const branches = [anyOf, oneOf].filter(Array.isArray) as (readonly SchemaNode[])[];
    if ($ref === undefined && allOf === undefined && branches.length === 0) return schema;
    const parts: SchemaNode[] = [rest, ...((allOf as SchemaNode[] | undefined) ?? [])];
    if ($ref !== undefined) parts.push(follow($ref as string));
    for (const choices of branches) parts.push(pickBranch(choices, depth));
    return parts.map((part) => resolve(part, depth, steps + 1)).reduce((one, other) => mergeSchemas(one, other));
  };

  const follow = (reference: string): SchemaNode => {
    if (reference === '#') return root;
    const definitions = (root as SchemaObject).$defs as Record<string, SchemaNode>;
    return definitions[reference.slice('#/$defs/'.length)] ?? true;
  };

  /** Deep down, a branch that ends is better than one that goes on. */
  const pickBranch = (choices: readonly SchemaNode[], depth: number): SchemaNode => {
    const possible = choices.filter((choice) => choice !== false);
    if (possible.length === 0) throw new CannotMakeError('no branch of a union is possible');
    const ends = possible.filter((choice) => !JSON.stringify(choice).includes('"$ref"'));
    const useful = depth >= DEEP && ends.length > 0 ? ends : possible;
    const notNull = useful.filter((choice) => typeof choice === 'boolean' || choice.type !== 'null');
    return random.pick(notNull.length > 0 && (growth === 1 || random.chance(70)) && depth < DEEP ? notNull : useful);
  };

  const makeOneOf = (values: readonly unknown[], name: string): unknown => {
    if (values.length === 0) throw new CannotMakeError(`no value is allowed as ${name}`);
    return random.pick(values);
  };

  const pickType = (node: SchemaObject, name: string): string => {
    const types = node.type === undefined ? impliedTypes(node) : typeList(node.type);
    if (types.length === 0) throw new CannotMakeError(`no type is allowed as ${name}`);
    const filled = types.filter((type) => type !== 'null');
    return random.pick(filled.length > 0 && (growth === 1 || random.chance(80)) ? filled : types);
  };

  const makeText = (node: SchemaObject, name: string): string => {
    const text = makeString(node as StringBounds, name, random, growth);
    if (text === undefined) throw new CannotMakeError(`no text for ${name} is known`);
    return text;
  };

  const makeNumber = (node: SchemaObject, name: string, whole: boolean): number => {
    const step = (node.multipleOf as number | undefined) ?? (whole ? 1 : 0.5);
    const unit = whole && !Number.isInteger(step) ? 1 : step;
    const least = Math.max(bound(node.minimum, -Infinity), bound(node.exclusiveMinimum, -Infinity));
    const most = Math.min(bound(node.maximum, Infinity), bound(node.exclusiveMaximum, Infinity));
    const from =
      least === -Infinity ? (most === Infinity || most >= 1 ? Math.min(unit, most) : most - 100 * unit) : least;
    let low = Math.ceil(from / unit);
    if (low * unit <= bound(node.exclusiveMinimum, -Infinity)) low += 1;
    let high = most === Infinity ? low + 99 : Math.floor(most / unit);
    if (high * unit >= bound(node.exclusiveMaximum, Infinity)) high -= 1;
    if (low > high) {
      if (!whole && node.multipleOf === undefined && least <= most) return (least + most) / 2;
      throw new CannotMakeError(`no number is allowed as ${name}`);
    }
    const number = (low + random.below(Math.min(high - low + 1, 1000))) * unit;
    return Number.parseFloat(number.toPrecision(15));
  };

  const makeArray = (node: SchemaObject, name: string, depth: number): unknown[] => {
    const tuple = (node.prefixItems as readonly SchemaNode[] | undefined) ?? [];
    const least = Math.max(bound(node.minItems, 0), node.contains === undefined ? 0 : bound(node.minContains, 1));
    const most = Math.min(bound(node.maxItems, Infinity), node.items === false ? tuple.length : Infinity);
    const wished = depth >= DEEP ? least : Math.max(tuple.length, 2 + random.below(2), growth > 8 ? least : 0);
    const length = Math.max(least, Math.min(wished, most));
    if (length > MAX_NODES) throw new CannotMakeError('the schema asks for a very long list');
    const items: unknown[] = [];
    const known = new Set<string>();
    for (let at = 0; at < length; at += 1) {
      const plain = tuple[at] ?? (node.items as SchemaNode | undefined) ?? true;
      const wanted = node.contains !== undefined && at < bound(node.minContains, 1);
      const item = wanted ? { allOf: [plain, node.contains as SchemaNode] } : plain;
      const value = makeNew(item, singular(name), depth + 1, node.uniqueItems === true ? known : undefined);
      if (value === NOTHING) {
        if (at < least) throw new CannotMakeError(`too few different items are possible in ${name}`);
        break;
      }
      items.push(value);
    }
    return items;
  };

  /** Makes an item that is not among the known ones; gives up after some tries. */
  const makeNew = (schema: SchemaNode, name: string, depth: number, known: Set<string> | undefined): unknown => {
    for (let tries = 0; tries < 40; tries += 1) {
      const value = make(schema, name, depth);
      const text = known === undefined ? '' : JSON.stringify(value);
      if (known === undefined) return value;
      if (known.has(text)) continue;
      known.add(text);
      return value;
    }
    return NOTHING;
  };

  const makeObject = (given: SchemaObject, depth: number): Record<string, unknown> => {
    const names = chooseNames(given, depth);
    const node = withDependents(given, names, depth);
    const properties = (node.properties ?? {}) as Record<string, SchemaNode>;
    const patterns = Object.entries((node.patternProperties ?? {}) as Record<string, SchemaNode>);
    const entries = [...names].map((name) => {
      const fitting = patterns.filter(([pattern]) => looselyMatches(pattern, name)).map(([, schema]) => schema);
      const declared = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const parts = declared === undefined ? fitting : [declared, ...fitting];
      const schema = parts.length > 0 ? (parts.length === 1 ? parts[0] : { allOf: parts }) : node.additionalProperties;
      return [name, make((schema as SchemaNode | undefined) ?? true, name, depth + 1)] as const;
    });
    return Object.fromEntries(entries);
  };

  const chooseNames = (node: SchemaObject, depth: number): Set<string> => {
    const properties = Object.entries((node.properties ?? {}) as Record<string, SchemaNode>);
    const required = new Set(node.required as readonly string[] | undefined);
    const percent = depth >= DEEP ? 0 : growth === 1 ? 100 : 60;
    const most = bound(node.maxProperties, Infinity);
    const names = new Set<string>();
    for (const [name, schema] of properties) if (required.has(name) && schema !== undefined) names.add(name);
    for (const name of required) names.add(name);
    for (const [name, schema] of properties) {
      if (names.size < most && schema !== false && random.chance(percent)) names.add(name);
    }
    const ordered = new Set(properties.map(([name]) => name).filter((name) => names.has(name)));
    for (const name of names) ordered.add(name);
    addFreeNames(node, ordered, depth, most);
    return ordered;
  };

  /** Maps get a few entries; others only as many as `minProperties` asks for. */
  const addFreeNames = (node: SchemaObject, names: Set<string>, depth: number, most: number): void => {
    const isMap = typeof node.additionalProperties === 'object' || node.patternProperties !== undefined;
    const wished = isMap && names.size === 0 && depth < DEEP ? 2 : 0;
    const count = Math.min(most, Math.max(wished, bound(node.minProperties, 0)));
    const patterns = Object.keys((node.patternProperties ?? {}) as object);
    for (let tries = 0; names.size < count && tries < count + 200; tries += 1) {
      const pattern = patterns.length > 0 ? samplePattern(random.pick(patterns), random, growth + 2) : undefined;
      const optional = Object.keys((node.properties ?? {}) as object).find((name) => !names.has(name));
      const free =
        node.propertyNames === undefined ? `simulated_${random.mark()}` : makeName(node.propertyNames as SchemaNode);
      const name = pattern ?? (node.additionalProperties === false ? optional : (free ?? optional));
      if (name !== undefined) names.add(name);
    }
  };

  const makeName = (schema: SchemaNode): string | undefined => {
    const name = make(mergeSchemas(schema, { type: 'string' }), 'key', MAX_DEPTH - 1);
    return typeof name === 'string' ? name : undefined;
  };

  const withDependents = (node: SchemaObject, names: Set<string>, depth: number): SchemaObject => {
    const lists = (node.dependentRequired ?? {}) as Record<string, readonly string[]>;
    for (const name of names)
      for (const other of (Object.hasOwn(lists, name) ? lists[name] : undefined) ?? []) names.add(other);
    const schemas = Object.entries((node.dependentSchemas ?? {}) as Record<string, SchemaNode>);
    const active = schemas.filter(([name]) => names.has(name)).map(([, schema]) => schema);
    if (active.length === 0) return node;
    const { dependentSchemas: _, ...rest } = node;
    const merged = resolve({ allOf: [rest, ...active] }, depth, 0);
    if (typeof merged === 'boolean') throw new CannotMakeError('a property forbids its object');
    for (const name of (merged.required as readonly string[] | undefined) ?? []) names.add(name);
    return merged;
  };

  return make(root, 'value', 0);
}

const NOTHING = Symbol('nothing');

function bound(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function singular(name: string): string {
  return /[^s]s$/.test(name) && name.length > 3 ? name.slice(0, -1) : name;
}

/** The types that the keywords of an untyped node speak of. */
function impliedTypes(node: SchemaObject): readonly string[] {
  const has = (...keywords: string[]) => keywords.some((keyword) => keyword in node);
  if (has('properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties')) return ['object'];
  if (has('items', 'prefixItems', 'minItems', 'maxItems', 'contains', 'uniqueItems')) return ['array'];
  if (has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')) return ['number'];
  if (has('minLength', 'maxLength', 'pattern', 'format')) return ['string'];
  return has('not', 'if') ? ALL_TYPES : ['string'];
}

/** Property names are short, and the result is checked, so that the host's own engine will do. */
function looselyMatches(pattern: string, name: string): boolean {
  try {
    return name.length < 100 && new RegExp(pattern, 'u').test(name);
  } catch {
    return false;
  }
}
