import type { AnyNode, ArrayExpression, ObjectExpression, Property } from 'acorn';

export type LiteralValue = string | number | boolean | null | readonly LiteralValue[] | LiteralObject;
export interface LiteralObject {
  readonly [key: string]: LiteralValue;
}

/** A node that is not part of a pure literal. */
export interface LiteralFault {
  readonly node: AnyNode;
  readonly what: string;
}

export type LiteralResult =
  | { readonly ok: true; readonly value: LiteralValue }
  | { readonly ok: false; readonly fault: LiteralFault };

const FORBIDDEN_KEYS: readonly string[] = ['__proto__', 'constructor', 'prototype'];

class Fault extends Error {
  readonly fault: LiteralFault;

  constructor(node: AnyNode, what: string) {
    super(what);
    this.fault = { node, what };
  }
}

/** Evaluates a pure literal on the syntax tree; nothing runs. Source: spec S-3. */
export function literalValue(node: AnyNode): LiteralResult {
  try {
    return { ok: true, value: evaluate(node) };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, fault: error.fault };
    throw error;
  }
}

function evaluate(node: AnyNode): LiteralValue {
  switch (node.type) {
    case 'ObjectExpression':
      return objectValue(node);
    case 'ArrayExpression':
      return arrayValue(node);
    case 'Literal':
      if (node.regex) throw new Fault(node, 'Literal (a regular expression)');
      if (typeof node.value === 'bigint') throw new Fault(node, 'Literal (a BigInt)');
      return node.value as string | number | boolean | null;
    case 'TemplateLiteral':
      if (node.expressions.length > 0) throw new Fault(node, 'TemplateLiteral (a template with substitutions)');
      return node.quasis[0]?.value.cooked ?? '';
    case 'UnaryExpression':
      return signedNumber(node.operator, node.argument, node);
    case 'Identifier':
      throw new Fault(node, `Identifier (the name ${node.name})`);
    default:
      throw new Fault(node, node.type);
  }
}

function signedNumber(operator: string, argument: AnyNode, node: AnyNode): number {
  if ((operator === '-' || operator === '+') && argument.type === 'Literal' && typeof argument.value === 'number') {
    return operator === '-' ? -argument.value : argument.value;
  }
  throw new Fault(node, `UnaryExpression (${operator})`);
}

function arrayValue(node: ArrayExpression): readonly LiteralValue[] {
  return node.elements.map((element) => {
    if (element === null) throw new Fault(node, 'ArrayExpression (with a hole)');
    return evaluate(element);
  });
}

function objectValue(node: ObjectExpression): LiteralObject {
  const value: Record<string, LiteralValue> = {};
  for (const property of node.properties) {
    if (property.type === 'SpreadElement') throw new Fault(property, 'SpreadElement');
    value[propertyKey(property)] = evaluate(property.value);
  }
  return value;
}

function propertyKey(property: Property): string {
  if (property.computed) throw new Fault(property.key, `${property.key.type} (a computed key)`);
  if (property.kind !== 'init') throw new Fault(property, `Property (a ${property.kind}ter)`);
  const { key } = property;
  const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : '';
  if (FORBIDDEN_KEYS.includes(name)) throw new Fault(key, `Property (the key ${name})`);
  return name;
}
