import type { AnyNode, CallExpression } from 'acorn';
import { isFunction } from '../find-binding.ts';
import type { Finding } from './finding.ts';
import { memberName, type ScriptFacts } from './script-facts.ts';

const WRAP = 'wrap each in a function: () => agent(…)';

/** `parallel` takes functions; a promise has already started, and is refused when the script runs (S-10). */
export function findEagerParallel(facts: ScriptFacts): readonly Finding[] {
  return [...facts.callsOf('parallel')].flatMap(({ call }) => {
    const [list] = call.arguments;
    const fault = list === undefined ? undefined : eagerItem(facts, facts.valueOf(list));
    return fault === undefined ? [] : [{ node: fault, message: `parallel is given promises, not functions: ${WRAP}.` }];
  });
}

function eagerItem(facts: ScriptFacts, list: AnyNode): AnyNode | undefined {
  if (list.type === 'ArrayExpression') {
    return list.elements.find((element) => element !== null && isPromise(facts, element)) ?? undefined;
  }
  return list.type === 'CallExpression' ? eagerMap(facts, list) : undefined;
}

function isPromise(facts: ScriptFacts, element: AnyNode): boolean {
  if (element.type === 'SpreadElement') return eagerItem(facts, facts.valueOf(element.argument)) !== undefined;
  return facts.isAgentPromise(facts.valueOf(element));
}

/** `items.map(x => agent(x))`, and any async callback: what it gives is a promise. */
function eagerMap(facts: ScriptFacts, call: CallExpression): AnyNode | undefined {
  if (memberName(call.callee) !== 'map') return undefined;
  const [callback] = call.arguments;
  const body = callback === undefined ? undefined : facts.valueOf(callback);
  return body !== undefined && givesPromise(facts, body) ? call : undefined;
}

function givesPromise(facts: ScriptFacts, callback: AnyNode): boolean {
  return (isFunction(callback) && callback.async) || facts.givesAgentPromise(callback);
}
