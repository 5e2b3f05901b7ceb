import { isSchemaObject, mapSubschemas, type SchemaNode, type SchemaObject } from './schema-keywords.ts';

/** Keyword of our own: `[cost, costPerKey]`, work spent each time the node is applied to a value. */
export const WORK_KEYWORD = 'x-wf-work';

const PARTS_PER_WORK_UNIT = 16;
const KEY_LOOPS = [
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'patternProperties',
  'minProperties',
  'maxProperties',
];

/** Gives each node of a schema its price, by which the validator spends work. */
export function meterSchema(node: SchemaNode): SchemaNode {
  if (typeof node === 'boolean') return node;
  const metered = mapSubschemas(node, meterSchema);
  return Object.keys(node).length === 0 ? node : { ...metered, [WORK_KEYWORD]: [costOf(node), costPerKeyOf(node)] };
}

function costOf(node: SchemaObject): number {
  let parts = 0;
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === 'enum' || keyword === '$defs') continue;
    if (keyword === 'const') parts += JSON.stringify(value).length / 8;
    if (Array.isArray(value)) parts += value.length;
    else if (isSchemaObject(value)) parts += Object.keys(value).length;
  }
  return 1 + Math.floor(parts / PARTS_PER_WORK_UNIT);
}

function costPerKeyOf(node: SchemaObject): number {
  if (!KEY_LOOPS.some((keyword) => keyword in node)) return 0;
  const patterns = isSchemaObject(node.patternProperties) ? Object.keys(node.patternProperties).length : 0;
  return 1 + patterns;
}
