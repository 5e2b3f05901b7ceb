import type { AnyNode } from 'acorn';
import type { Finding } from './finding.ts';
import { memberName, type ScriptFacts } from './script-facts.ts';

/** What a promise has itself. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['then', 'catch', 'finally']);

/** A promise of agents whose answer is read before it is there: `const a = agent(…)` and then `a.title`, or `await parallel(…).filter(…)`. */
export function findPromisesAsValues(facts: ScriptFacts): readonly Finding[] {
  const told = new Set<AnyNode>();
  return facts.paths.flatMap(({ node }) =>
    readValues(node).flatMap(({ value, use }) => {
      const promise = facts.valueOf(value);
      if (told.has(promise) || !isPromise(facts, promise)) return [];
      told.add(promise);
      const what = value.type === 'Identifier' ? value.name : `what ${calledName(promise)} gives`;
      return [{ node: value, message: `${what} is a promise, and ${use}; await it first: ${remedy(value)}.` }];
    }),
  );
}

/** What a node takes for a value that is there, and how. */
function readValues(node: AnyNode): readonly { readonly value: AnyNode; readonly use: string }[] {
  switch (node.type) {
    case 'MemberExpression': {
      const name = memberName(node);
      if (OWN_MEMBERS.has(name)) return [];
      return [{ value: node.object, use: name === '' ? 'has no items' : `has no ${name}` }];
    }
    case 'TemplateLiteral':
      return node.expressions.map((value) => ({ value, use: 'its text is [object Promise]' }));
    case 'BinaryExpression':
      if (node.operator !== '+') return [];
      return [node.left, node.right].map((value) => ({ value, use: 'its text is [object Promise]' }));
    case 'VariableDeclarator':
      if (node.id.type === 'Identifier' || !node.init) return [];
      return [{ value: node.init, use: 'cannot be taken apart' }];
    case 'ForOfStatement':
      return node.await ? [] : [{ value: node.right, use: 'has no items' }];
    default:
      return [];
  }
}

function isPromise(facts: ScriptFacts, node: AnyNode): boolean {
  if (node.type !== 'CallExpression') return false;
  return facts.isAgentPromise(node) || facts.givesAgentPromise(facts.valueOf(node.callee));
}

function calledName(node: AnyNode): string {
  const callee = node.type === 'CallExpression' ? node.callee : node;
  return callee.type === 'Identifier' ? callee.name : 'this call';
}

function remedy(value: AnyNode): string {
  return value.type === 'Identifier' ? `const ${value.name} = await …` : '(await …)';
}
