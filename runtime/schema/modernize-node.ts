import { isSchemaObject, type SchemaObject } from './schema-keywords.ts';

/**
 * Writes one schema node of an older draft, or of OpenAPI, the way of 2020-12; schemas below it are left alone.
 * Source: JSON Schema 2019-09 and 2020-12, "Changelog"; OpenAPI 3.0.3, "Schema Object".
 */
export function modernizeNode(node: SchemaObject): SchemaObject {
  const steps = [tupleItems, dependencies, booleanBounds, oldReferences, nullable];
  return steps.reduce((modern, step) => step(modern), node);
}

function tupleItems(node: SchemaObject): SchemaObject {
  if (!Array.isArray(node.items)) return node;
  const { items, additionalItems, ...rest } = node;
  return {
    ...rest,
    ...(items.length === 0 ? {} : { prefixItems: items }),
    ...(additionalItems === undefined ? {} : { items: additionalItems }),
  };
}

function dependencies(node: SchemaObject): SchemaObject {
  if (!isSchemaObject(node.dependencies)) return node;
  const { dependencies: old, ...rest } = node;
  const entries = Object.entries(old as SchemaObject);
  return {
    ...rest,
    dependentRequired: Object.fromEntries(entries.filter(([, value]) => Array.isArray(value))),
    dependentSchemas: Object.fromEntries(entries.filter(([, value]) => !Array.isArray(value))),
  };
}

function booleanBounds(node: SchemaObject): SchemaObject {
  if (typeof node.exclusiveMinimum !== 'boolean' && typeof node.exclusiveMaximum !== 'boolean') return node;
  const modern: Record<string, unknown> = { ...node };
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof modern[flag] !== 'boolean') continue;
    const exclusive = modern[flag] && modern[bound] !== undefined;
    if (exclusive) modern[flag] = modern[bound];
    else delete modern[flag];
    if (exclusive) delete modern[bound];
  }
  return modern;
}

/** Within one document a dynamic reference leads where a plain one does. */
function oldReferences(node: SchemaObject): SchemaObject {
  const { $dynamicRef, $recursiveRef, ...rest } = node;
  const reference = $dynamicRef ?? $recursiveRef;
  if (reference === undefined) return node;
  return rest.$ref === undefined ? { ...rest, $ref: reference } : { allOf: [rest, { $ref: reference }] };
}

/** `nullable` of OpenAPI 3.0: null is allowed too, in `enum` as well. */
function nullable(node: SchemaObject): SchemaObject {
  if (node.nullable !== true) return node;
  const { nullable: _, ...rest } = node;
  if (rest.type === undefined) {
    const constrained = ['$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'const', 'not', 'if'].some((key) => key in rest);
    if (!constrained) return rest;
    const { title, description, $defs, definitions, ...constraint } = rest;
    const around = Object.fromEntries(
      Object.entries({ title, description, $defs, definitions }).filter(([, value]) => value !== undefined),
    );
    return { ...around, anyOf: [constraint, { type: 'null' }] };
  }
  const types = Array.isArray(rest.type) ? rest.type : [rest.type];
  const { const: only, ...free } = rest;
  const values = 'const' in rest ? [only] : rest.enum;
  return {
    ...('const' in rest ? free : rest),
    type: types.includes('null') ? types : [...types, 'null'],
    ...(Array.isArray(values) ? { enum: values.includes(null) ? values : [...values, null] } : {}),
  };
}
