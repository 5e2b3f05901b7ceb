import { isSchemaObject, type SchemaNode, type SchemaObject, subschemasOf } from './schema-keywords.ts';
import { UnusableSchemaError } from './unusable-schema-error.ts';

/** Keywords whose schemas apply to the same value as the node they stand in. */
const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
]);
const MAX_IN_PLACE_CHAIN = 200;
const MAX_NODES_FOR_FINITENESS = 5_000;

/**
 * Refuses recursion that never comes to an end: a schema that applies itself to the same value, and one whose
 * every answer would have to be infinitely large. Expects normal form.
 *
 * @throws UnusableSchemaError
 */
export function checkRecursion(root: SchemaNode): void {
  if (typeof root === 'boolean') return;
  const nodes = allNodes(root);
  refuseCycles(root, nodes);
  if (nodes.length <= MAX_NODES_FOR_FINITENESS) refuseInfiniteAnswers(root, nodes);
}

/** The schema that a normal reference leads to. */
export function referenced(root: SchemaObject, reference: string): SchemaNode {
  if (reference === '#') return root;
  return (root.$defs as Record<string, SchemaNode>)[reference.slice('#/$defs/'.length)] ?? true;
}

function allNodes(root: SchemaObject): SchemaObject[] {
  const nodes: SchemaObject[] = [root];
  for (let at = 0; at < nodes.length; at += 1) {
    for (const { child } of subschemasOf(nodes[at] as SchemaObject)) if (isSchemaObject(child)) nodes.push(child);
  }
  return nodes;
}

function refuseCycles(root: SchemaObject, nodes: readonly SchemaObject[]): void {
  const finished = new Set<SchemaObject>();
  const open = new Set<SchemaObject>();
  const enter = (node: SchemaNode): void => {
    if (typeof node === 'boolean' || finished.has(node)) return;
    if (open.has(node)) {
      throw new UnusableSchemaError(
        'The schema refers to itself without going into a property or an item, so it says nothing.',
      );
    }
    if (open.size > MAX_IN_PLACE_CHAIN)
      throw new UnusableSchemaError('A chain of references in the schema is too long.');
    open.add(node);
    for (const { keyword, child } of subschemasOf(node)) if (IN_PLACE.has(keyword)) enter(child);
    if (typeof node.$ref === 'string') enter(referenced(root, node.$ref));
    open.delete(node);
    finished.add(node);
  };
  for (const node of nodes) enter(node);
}

/** Grows the set of schemas that some finite value fits, until it grows no more. */
function refuseInfiniteAnswers(root: SchemaObject, nodes: readonly SchemaObject[]): void {
  const finite = new Set<SchemaObject>();
  const has = (node: unknown): boolean => !isSchemaObject(node) || finite.has(node);
  const bottomUp = [...nodes].reverse();
  for (let before = -1; before !== finite.size; ) {
    before = finite.size;
    for (const node of bottomUp) if (!finite.has(node) && hasFiniteValue(root, node, has)) finite.add(node);
  }
  if (finite.has(root)) return;
  throw new UnusableSchemaError(
    'The schema requires itself, so only an endless value would fit. Make the recursive property optional.',
  );
}

function hasFiniteValue(root: SchemaObject, node: SchemaObject, has: (node: unknown) => boolean): boolean {
  if (typeof node.$ref === 'string' && !has(referenced(root, node.$ref))) return false;
  if (Array.isArray(node.allOf) && !node.allOf.every(has)) return false;
  for (const choice of [node.anyOf, node.oneOf]) if (Array.isArray(choice) && !choice.some(has)) return false;
  if (node.type === 'array') return arrayIsFinite(node, has);
  if (node.type !== 'object') return true;
  const properties = (node.properties ?? {}) as SchemaObject;
  const required = (node.required ?? []) as readonly string[];
  return required.every((name) => !Object.hasOwn(properties, name) || has(properties[name]));
}

function arrayIsFinite(node: SchemaObject, has: (node: unknown) => boolean): boolean {
  const least = (node.minItems as number | undefined) ?? 0;
  const tuple = (node.prefixItems ?? []) as readonly unknown[];
  return tuple.slice(0, least).every(has) && (least <= tuple.length || has(node.items));
}
