import type { AnyNode, Pattern, Statement, VariableDeclaration } from 'acorn';
import type { NodePath } from './visit-nodes.ts';
import { visitFrom } from './visit-nodes.ts';

/**
 * The nearest scope around a place that declares a name; undefined when the name is a global there.
 *
 * Knows parameters, `var` (hoisted to its function), `let`, `const`, `using`, classes, functions, catch parameters and the own names
 * of function and class expressions, as ECMA-262 scopes them in strict mode.
 */
export function findBinding(name: string, from: NodePath): AnyNode | undefined {
  for (let path = from; path.parent !== undefined; path = path.parent) {
    const scope = path.parent.node;
    if (declares(scope, path.key, name)) return scope;
  }
  return undefined;
}

function declares(scope: AnyNode, via: string, name: string): boolean {
  switch (scope.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      if (namesOf(scope, 'params', () => parameterNames(scope)).has(name)) return true;
      return via === 'body' && namesOf(scope, 'var', () => varNames(scope.body)).has(name);
    case 'StaticBlock':
      return (
        namesOf(scope, 'var', () => varNames(scope)).has(name) ||
        namesOf(scope, 'let', () => lexicalNames(scope.body)).has(name)
      );
    case 'Program':
    case 'BlockStatement':
      return namesOf(scope, 'let', () => lexicalNames(scope.body as readonly Statement[])).has(name);
    case 'SwitchStatement':
      return (
        via === 'cases' &&
        namesOf(scope, 'let', () => lexicalNames(scope.cases.flatMap((entry) => entry.consequent))).has(name)
      );
    case 'ForStatement':
      return namesOf(scope, 'let', () => loopNames(scope.init)).has(name);
    case 'ForInStatement':
    case 'ForOfStatement':
      return namesOf(scope, 'let', () => loopNames(scope.left)).has(name);
    case 'CatchClause':
      return namesOf(scope, 'let', () => patternNames(scope.param ? [scope.param] : [])).has(name);
    case 'ClassDeclaration':
    case 'ClassExpression':
      return scope.id?.name === name;
    default:
      return false;
  }
}

type NameKind = 'params' | 'var' | 'let';
const KNOWN: Readonly<Record<NameKind, WeakMap<AnyNode, ReadonlySet<string>>>> = {
  params: new WeakMap(),
  var: new WeakMap(),
  let: new WeakMap(),
};

function namesOf(scope: AnyNode, kind: NameKind, compute: () => ReadonlySet<string>): ReadonlySet<string> {
  let names = KNOWN[kind].get(scope);
  if (names === undefined) {
    names = compute();
    KNOWN[kind].set(scope, names);
  }
  return names;
}

function parameterNames(node: FunctionNode): ReadonlySet<string> {
  const own = node.type === 'FunctionExpression' && node.id ? [node.id] : [];
  return patternNames([...node.params, ...own]);
}

function lexicalNames(statements: readonly AnyNode[]): ReadonlySet<string> {
  const patterns: Pattern[] = [];
  for (const statement of statements) {
    if (statement.type === 'VariableDeclaration' && statement.kind !== 'var') patterns.push(...idsOf(statement));
    if ((statement.type === 'FunctionDeclaration' || statement.type === 'ClassDeclaration') && statement.id) {
      patterns.push(statement.id);
    }
  }
  return patternNames(patterns);
}

function loopNames(head: AnyNode | null | undefined): ReadonlySet<string> {
  return patternNames(head?.type === 'VariableDeclaration' && head.kind !== 'var' ? idsOf(head) : []);
}

/** Names that `var` declares anywhere in a body, its nested functions left out. */
export function varNames(body: AnyNode): ReadonlySet<string> {
  const patterns: Pattern[] = [];
  visitFrom({ node: body, parent: undefined, key: '' }, ({ node }) => {
    if (node.type === 'VariableDeclaration' && node.kind === 'var') patterns.push(...idsOf(node));
    return node === body || !isVarScope(node);
  });
  return patternNames(patterns);
}

function isVarScope(node: AnyNode): boolean {
  return isFunction(node) || node.type === 'StaticBlock';
}

export type FunctionNode = Extract<
  AnyNode,
  { type: 'FunctionDeclaration' } | { type: 'FunctionExpression' } | { type: 'ArrowFunctionExpression' }
>;

export function isFunction(node: AnyNode): node is FunctionNode {
  return (
    node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'
  );
}

function idsOf(declaration: VariableDeclaration): readonly Pattern[] {
  return declaration.declarations.map((declarator) => declarator.id);
}

function patternNames(patterns: readonly Pattern[]): ReadonlySet<string> {
  const names = new Set<string>();
  const pending: (Pattern | null)[] = [...patterns];
  for (let pattern = pending.pop(); pattern !== undefined; pattern = pending.pop()) {
    switch (pattern?.type) {
      case 'Identifier':
        names.add(pattern.name);
        break;
      case 'ObjectPattern':
        pending.push(...pattern.properties.map((entry) => (entry.type === 'RestElement' ? entry : entry.value)));
        break;
      case 'ArrayPattern':
        pending.push(...pattern.elements);
        break;
      case 'AssignmentPattern':
        pending.push(pattern.left);
        break;
      case 'RestElement':
        pending.push(pattern.argument);
        break;
      default:
        break;
    }
  }
  return names;
}
