import { compileLinearPattern } from './linear-pattern.ts';
import { isSchemaObject, type SchemaObject } from './schema-keywords.ts';
import { UnusableSchemaError } from './unusable-schema-error.ts';

const BOUNDS = [
  ['minLength', 'maxLength'],
  ['minimum', 'maximum'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
  ['minContains', 'maxContains'],
] as const;

/**
 * Refuses a node that contradicts itself in plain sight: a required property that it forbids, a lower bound above
 * the upper one.
 *
 * @throws UnusableSchemaError
 */
export function checkContradictions(node: SchemaObject, place: string): void {
  for (const [lower, upper] of BOUNDS) {
    const [low, high] = [node[lower], node[upper]];
    if (typeof low === 'number' && typeof high === 'number' && low > high) {
      throw new UnusableSchemaError(`\`${lower}\` ${low} at ${place} is above \`${upper}\` ${high}, so no value fits.`);
    }
  }
  const properties = isSchemaObject(node.properties) ? node.properties : {};
  for (const name of (node.required as string[] | undefined) ?? []) {
    if (!isForbidden(name, node, properties)) continue;
    throw new UnusableSchemaError(
      `The schema at ${place} requires ${JSON.stringify(name.slice(0, 100))} and forbids it as well. Add it to \`properties\`, or take it out of \`required\`.`,
    );
  }
}

function isForbidden(name: string, node: SchemaObject, properties: SchemaObject): boolean {
  if (Object.hasOwn(properties, name)) return properties[name] === false;
  if (node.additionalProperties !== false) return false;
  const patterns = isSchemaObject(node.patternProperties) ? Object.keys(node.patternProperties) : [];
  return !patterns.some((pattern) => compileLinearPattern(pattern, name).test(name));
}
