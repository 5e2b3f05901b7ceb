import type { OutputContract } from '../ports.ts';

type Node = boolean | Readonly<Record<string, unknown>>;

const MAX_DEPTH = 20;

/**
 * Gives the least answer that a call must accept, as JSON text: an empty text, or a value of its schema with empty
 * lists and texts, absent members, nulls and the lowest numbers. Undefined when none is found.
 */
export function leastAnswer(output: OutputContract | undefined): string | undefined {
  if (output === undefined) return '""';
  const root = output.schema as Node;
  const value = least(root, root, 0);
  if (value === undefined) return undefined;
  const verdict = output.judge(JSON.stringify(output.wrapped ? { value } : value));
  return verdict.ok ? verdict.valueJson : undefined;
}

/** Undefined where nothing can be made. */
function least(node: Node, root: Node, depth: number): unknown {
  if (node === false || depth > MAX_DEPTH) return undefined;
  if (node === true) return null;
  if (Object.hasOwn(node, 'const')) return node['const'];
  if (Array.isArray(node['enum'])) return (node['enum'] as unknown[]).at(-1);
  if (typeof node['$ref'] === 'string') return least(follow(root, node['$ref']), root, depth + 1);
  for (const union of [node['anyOf'], node['oneOf']]) {
    if (Array.isArray(union)) return leastOfUnion(union as readonly Node[], root, depth);
  }
  const types = [node['type']].flat();
  if (types.includes('null')) return null;
  switch (types[0]) {
    case 'object':
      return leastObject(node, root, depth);
    case 'array':
      return leastArray(node, root, depth);
    case 'string':
      return 'x'.repeat(numberOr(node['minLength'], 0));
    case 'number':
    case 'integer':
      return numberOr(node['minimum'], numberOr(node['exclusiveMinimum'], -1) + 1);
    case 'boolean':
      return false;
    default:
      return 'properties' in node ? leastObject(node, root, depth) : null;
  }
}

function leastOfUnion(branches: readonly Node[], root: Node, depth: number): unknown {
  const values = branches.map((branch) => least(branch, root, depth + 1)).filter((value) => value !== undefined);
  return values.find((value) => value === null) ?? (values.includes(null) ? null : values.at(-1));
}

function leastObject(node: Readonly<Record<string, unknown>>, root: Node, depth: number): unknown {
  const properties = (node['properties'] ?? {}) as Readonly<Record<string, Node>>;
  const required = (node['required'] ?? []) as readonly string[];
  const made: Record<string, unknown> = {};
  for (const name of required) {
    const value = least(properties[name] ?? true, root, depth + 1);
    if (value === undefined) return undefined;
    made[name] = value;
  }
  return made;
}

function leastArray(node: Readonly<Record<string, unknown>>, root: Node, depth: number): unknown {
  const count = numberOr(node['minItems'], 0);
  if (count === 0) return [];
  const prefix = (node['prefixItems'] ?? []) as readonly Node[];
  const items = Array.from({ length: Math.min(count, 100) }, (_, place) =>
    least(prefix[place] ?? ((node['items'] ?? true) as Node), root, depth + 1),
  );
  return items.includes(undefined) ? undefined : items;
}

function follow(root: Node, reference: string): Node {
  if (reference === '#' || typeof root === 'boolean') return root;
  const definitions = (root['$defs'] ?? {}) as Readonly<Record<string, Node>>;
  return definitions[reference.slice('#/$defs/'.length)] ?? true;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
