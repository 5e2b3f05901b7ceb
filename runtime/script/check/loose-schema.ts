import type { AnyNode, ObjectExpression } from 'acorn';
import type { Finding } from './finding.ts';
import type { ScriptFacts } from './script-facts.ts';

/** Keywords under which this rule does not follow what `{}` would meet. */
const OPAQUE: ReadonlySet<string> = new Set([
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'enum',
  'const',
  'minProperties',
  'dependentRequired',
  'dependentSchemas',
]);

/** A literal schema that `{}` satisfies: a subagent may answer with nothing and be right. */
export function findLooseSchemas(facts: ScriptFacts): readonly Finding[] {
  return [...facts.callsOf('agent')].flatMap(({ call }) => {
    const options = call.arguments[1] && facts.valueOf(call.arguments[1]);
    const given = options?.type === 'ObjectExpression' ? members(options)?.get('schema') : undefined;
    const schema = given && facts.valueOf(given);
    const why = schema?.type === 'ObjectExpression' ? whyLoose(facts, schema) : undefined;
    return given === undefined || why === undefined ? [] : [{ node: given, message: why }];
  });
}

function whyLoose(facts: ScriptFacts, schema: ObjectExpression): string | undefined {
  const keywords = members(schema);
  if (keywords === undefined || [...keywords.keys()].some((key) => OPAQUE.has(key))) return undefined;
  if (keywords.size === 0) return 'The schema {} accepts any answer: say what is wanted, or leave the schema out.';
  if (!allowsObject(keywords.get('type'), facts) || requiresSomething(keywords.get('required'), facts))
    return undefined;
  const properties = keywords.get('properties') && facts.valueOf(keywords.get('properties') as AnyNode);
  const named = properties?.type === 'ObjectExpression' ? [...(members(properties)?.keys() ?? [])] : [];
  const list = named.length === 0 ? "['…']" : `[${named.map((name) => `'${name}'`).join(', ')}]`;
  return `The schema accepts {}: it requires no property. Add required: ${list}, or those that must be there.`;
}

function allowsObject(type: AnyNode | undefined, facts: ScriptFacts): boolean {
  if (type === undefined) return true;
  const value = facts.valueOf(type);
  if (value.type === 'Literal') return value.value === 'object';
  return (
    value.type === 'ArrayExpression' &&
    value.elements.some((element) => element?.type === 'Literal' && element.value === 'object')
  );
}

/** True as well when it cannot be seen. */
function requiresSomething(required: AnyNode | undefined, facts: ScriptFacts): boolean {
  if (required === undefined) return false;
  const value = facts.valueOf(required);
  return value.type !== 'ArrayExpression' || value.elements.length > 0;
}

/** Members of an object literal by name; undefined when a spread, a computed key or an accessor hides some. */
function members(object: ObjectExpression): ReadonlyMap<string, AnyNode> | undefined {
  const found = new Map<string, AnyNode>();
  for (const property of object.properties) {
    if (property.type === 'SpreadElement' || property.computed || property.kind !== 'init') return undefined;
    if (property.key.type === 'Identifier') found.set(property.key.name, property.value);
    else if (property.key.type === 'Literal') found.set(String(property.key.value), property.value);
  }
  return found;
}
