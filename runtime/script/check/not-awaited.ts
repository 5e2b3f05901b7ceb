import type { AnyNode, CallExpression } from 'acorn';
import type { Finding } from './finding.ts';
import { memberName, type ScriptFacts } from './script-facts.ts';

const PROMISE_HELPERS: ReadonlySet<string> = new Set(['all', 'allSettled', 'any', 'race']);

/** A statement that starts agents and drops their promise: they are cancelled when the script ends (S-26). `void agent()` says so on purpose. */
export function findUnawaited(facts: ScriptFacts): readonly Finding[] {
  return facts.paths.flatMap(({ node }) => {
    if (node.type !== 'ExpressionStatement') return [];
    const dropped = droppedCall(facts, node.expression);
    return dropped === undefined ? [] : [{ node: dropped.node, message: dropped.message }];
  });
}

function droppedCall(facts: ScriptFacts, expression: AnyNode): Finding | undefined {
  switch (expression.type) {
    case 'LogicalExpression':
      return droppedCall(facts, expression.right);
    case 'ConditionalExpression':
      return droppedCall(facts, expression.consequent) ?? droppedCall(facts, expression.alternate);
    case 'SequenceExpression':
      return expression.expressions.map((part) => droppedCall(facts, part)).find((found) => found !== undefined);
    case 'ChainExpression':
      return droppedCall(facts, expression.expression);
    case 'CallExpression':
      return droppedPromise(facts, expression);
    default:
      return undefined;
  }
}

function droppedPromise(facts: ScriptFacts, call: CallExpression): Finding | undefined {
  if (facts.isAgentPromise(call)) return finding(call, `${calledName(call)} is not awaited`);
  const { callee } = call;
  if (facts.givesAgentPromise(facts.valueOf(callee))) {
    const name = callee.type === 'Identifier' ? callee.name : 'this call of an async function';
    return finding(call, `${name} is not awaited`);
  }
  const method = memberName(callee);
  const [first, second] = call.arguments;
  if (callee.type === 'MemberExpression' && facts.isGlobal(callee.object)) {
    const isPromise = callee.object.type === 'Identifier' && callee.object.name === 'Promise';
    if (isPromise && PROMISE_HELPERS.has(method) && facts.runsAgents(call)) {
      return finding(call, `Promise.${method} is not awaited`);
    }
  }
  if (method === 'forEach' && first !== undefined && facts.givesAgentPromise(facts.valueOf(first))) {
    const message = 'forEach does not wait for its callback';
    return finding(call, message, 'use parallel with a function for each item, or for…of with await');
  }
  if (method === 'map' && first !== undefined && facts.givesAgentPromise(facts.valueOf(first))) {
    return finding(call, 'the promises that map makes are not awaited');
  }
  const isPhase = facts.globalCallee(call) === 'phase' && second !== undefined;
  return isPhase && facts.givesAgentPromise(facts.valueOf(second)) ? finding(call, 'phase is not awaited') : undefined;
}

function calledName(call: CallExpression): string {
  return call.callee.type === 'Identifier' ? call.callee.name : `the promise of ${memberName(call.callee)}`;
}

function finding(node: AnyNode, what: string, todo = 'write await before it, or void if that is meant'): Finding {
  return { node, message: `${what}: its agents are cancelled when the script ends; ${todo}.` };
}
