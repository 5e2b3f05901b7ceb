import { mergeSchemas, type SchemaNode, type SchemaObject } from './merge-schemas.ts';
import { samplePattern } from './sample-pattern.ts';
import { CannotMakeError, DEEP, numberOr, type ValueMaker } from './value-maker.ts';

type SchemaMap = Readonly<Record<string, SchemaNode>>;

const MAP_ENTRIES = 2;

/** Makes an object with its required properties, and with most others while it is not deep. @throws CannotMakeError */
export function makeObject(maker: ValueMaker, given: SchemaObject, depth: number): Readonly<Record<string, unknown>> {
  const names = chooseNames(maker, given, depth);
  const node = withDependents(maker, given, names, depth);
  const entries = [...names].map((name) => [name, maker.make(schemaOf(node, name), name, depth + 1)] as const);
  return Object.fromEntries(entries);
}

function mapOf(node: SchemaObject, keyword: string): SchemaMap {
  return (node[keyword] ?? {}) as SchemaMap;
}

function schemaOf(node: SchemaObject, name: string): SchemaNode {
  const properties = mapOf(node, 'properties');
  const fitting = Object.entries(mapOf(node, 'patternProperties')).filter(([pattern]) => looselyMatches(pattern, name));
  const parts = fitting.map(([, schema]) => schema);
  if (Object.hasOwn(properties, name)) parts.unshift(properties[name] ?? true);
  if (parts.length === 0) return (node.additionalProperties as SchemaNode | undefined) ?? true;
  return parts.length === 1 ? (parts[0] ?? true) : { allOf: parts };
}

/** Names in the order of `properties`, then those that only `required` knows, then free ones. */
function chooseNames(maker: ValueMaker, node: SchemaObject, depth: number): Set<string> {
  const required = (node.required as readonly string[] | undefined) ?? [];
  const most = numberOr(node.maxProperties, Infinity);
  const percent = depth >= DEEP ? 0 : maker.growth === 1 ? 100 : 60;
  const chosen = new Set(required);
  for (const [name, schema] of Object.entries(mapOf(node, 'properties'))) {
    if (chosen.size < most && schema !== false && maker.random.chance(percent)) chosen.add(name);
  }
  const declared = Object.keys(mapOf(node, 'properties')).filter((name) => chosen.has(name));
  const names = new Set([...declared, ...chosen]);
  addFreeNames(maker, node, names, depth);
  return names;
}

/** Maps get a few entries; other objects only as many as `minProperties` asks for. */
function addFreeNames(maker: ValueMaker, node: SchemaObject, names: Set<string>, depth: number): void {
  const isMap = typeof node.additionalProperties === 'object' || node.patternProperties !== undefined;
  const wished = isMap && names.size === 0 && depth < DEEP ? MAP_ENTRIES : 0;
  const count = Math.min(numberOr(node.maxProperties, Infinity), Math.max(wished, numberOr(node.minProperties, 0)));
  for (let tries = 0; names.size < count && tries < count + 200; tries += 1) {
    const name = newName(maker, node, names);
    if (name !== undefined) names.add(name);
  }
}

function newName(maker: ValueMaker, node: SchemaObject, names: ReadonlySet<string>): string | undefined {
  const patterns = Object.keys(mapOf(node, 'patternProperties'));
  const left = Object.keys(mapOf(node, 'properties')).find((name) => !names.has(name));
  if (left !== undefined) return left;
  if (patterns.length > 0) return patternedName(maker, maker.random.pick(patterns));
  if (node.additionalProperties === false) return undefined;
  if (node.propertyNames === undefined) return `simulated_${maker.random.mark()}`;
  const name = maker.make(mergeSchemas(node.propertyNames as SchemaNode, { type: 'string' }), 'key', DEEP);
  return typeof name === 'string' ? name : undefined;
}

function patternedName({ random, growth }: ValueMaker, pattern: string): string | undefined {
  const name = samplePattern(pattern, random, growth + 2);
  return name === undefined || pattern.endsWith('$') ? name : `${name}${random.mark()}`;
}

/** Adds what the chosen properties call for: to the names, and to the node. */
function withDependents(maker: ValueMaker, node: SchemaObject, names: Set<string>, depth: number): SchemaObject {
  const lists = (node.dependentRequired ?? {}) as Readonly<Record<string, readonly string[]>>;
  const { dependentSchemas, ...rest } = node;
  const active = Object.entries((dependentSchemas ?? {}) as SchemaMap).filter(([name]) => names.has(name));
  const merged =
    active.length === 0 ? node : maker.resolve({ allOf: [rest, ...active.map(([, schema]) => schema)] }, depth);
  if (typeof merged === 'boolean') throw new CannotMakeError('a property forbids its object');
  for (const name of (merged.required as readonly string[] | undefined) ?? []) names.add(name);
  for (const name of names) {
    for (const other of (Object.hasOwn(lists, name) ? lists[name] : undefined) ?? []) names.add(other);
  }
  return merged;
}

/** Property names are short, and the value is checked afterwards, so that the host's own engine will do. */
function looselyMatches(pattern: string, name: string): boolean {
  try {
    return name.length < 100 && new RegExp(pattern, 'u').test(name);
  } catch {
    return false;
  }
}
