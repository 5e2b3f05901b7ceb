/** A schema node in normal form (2020-12; references to `#` and `#/$defs/<name>` only). */
export type SchemaNode = boolean | SchemaObject;
export type SchemaObject = { readonly [keyword: string]: unknown };

const GREATER_WINS: ReadonlySet<string> = new Set([
  'minimum',
  'exclusiveMinimum',
  'minLength',
  'minItems',
  'minProperties',
  'minContains',
]);
const SMALLER_WINS: ReadonlySet<string> = new Set([
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
  'maxContains',
]);

/** Joins two schemas into one that asks for both, as far as keywords can be joined; the rest becomes `allOf`. */
export function mergeSchemas(one: SchemaNode, other: SchemaNode): SchemaNode {
  if (one === false || other === false) return false;
  if (one === true) return other;
  if (other === true) return one;
  const merged: Record<string, unknown> = { ...one };
  for (const [keyword, value] of Object.entries(other)) {
    merged[keyword] = Object.hasOwn(merged, keyword) ? mergeKeyword(keyword, merged[keyword], value) : value;
  }
  return merged;
}

function mergeKeyword(keyword: string, one: unknown, other: unknown): unknown {
  if (GREATER_WINS.has(keyword)) return Math.max(one as number, other as number);
  if (SMALLER_WINS.has(keyword)) return Math.min(one as number, other as number);
  switch (keyword) {
    case 'properties':
    case 'patternProperties':
    case 'dependentSchemas':
      return mergeMaps(one as SchemaObject, other as SchemaObject);
    case 'items':
    case 'additionalProperties':
    case 'propertyNames':
    case 'contains':
      return mergeSchemas(one as SchemaNode, other as SchemaNode);
    case 'required':
      return [...new Set([...(one as string[]), ...(other as string[])])];
    case 'allOf':
      return [...(one as SchemaNode[]), ...(other as SchemaNode[])];
    case 'type':
      return commonTypes(typeList(one), typeList(other));
    case 'enum': {
      const allowed = new Set((other as unknown[]).map((value) => JSON.stringify(value)));
      return (one as unknown[]).filter((value) => allowed.has(JSON.stringify(value)));
    }
    default:
      return other;
  }
}

function mergeMaps(one: SchemaObject, other: SchemaObject): SchemaObject {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, mergeSchemas(own(one, name), own(other, name))] as const));
}

function own(map: SchemaObject, name: string): SchemaNode {
  return Object.hasOwn(map, name) ? (map[name] as SchemaNode) : true;
}

export function typeList(type: unknown): readonly string[] {
  return Array.isArray(type) ? type : [type as string];
}

function commonTypes(one: readonly string[], other: readonly string[]): readonly string[] {
  const common = one.filter((type) => other.includes(type));
  const integers = [one, other].some((types) => types.includes('integer')) && [...one, ...other].includes('number');
  return integers && !common.includes('integer') && !common.includes('number') ? [...common, 'integer'] : common;
}
