import type { AnyNode } from 'acorn';
import { isFunction } from '../find-binding.ts';
import type { NodePath } from '../visit-nodes.ts';
import type { Finding } from './finding.ts';
import { memberName, type ScriptFacts } from './script-facts.ts';

const WHY = 'a resumed run would ask something else and pay again';
const CLOCKS: ReadonlySet<string> = new Set(['Date.now', 'performance.now', 'Math.random']);

/** A prompt with data in it that another run, with nothing changed, would not have. */
export function findUnstablePrompts(facts: ScriptFacts): readonly Finding[] {
  const disordered = findDisordered(facts);
  return [...facts.callsOf('agent')].flatMap(({ call }) => {
    const [prompt] = call.arguments;
    const found = prompt && findUnstable(facts, prompt, disordered, new Set());
    return found === undefined ? [] : [{ node: prompt as AnyNode, message: `The prompt contains ${found}: ${WHY}.` }];
  });
}

/** A list that agents fill as they finish: its name and the scope that declares it. */
interface Disordered {
  readonly name: string;
  readonly scope: AnyNode;
}

function findUnstable(
  facts: ScriptFacts,
  root: AnyNode,
  disordered: readonly Disordered[],
  seen: Set<AnyNode>,
): string | undefined {
  if (seen.has(root) || seen.size > 100) return undefined;
  seen.add(root);
  let found: string | undefined;
  facts.has(root, (node) => {
    found ??= unstableNode(facts, node) ?? disorderedName(facts, node, disordered);
    if (found === undefined && node.type === 'Identifier') {
      const value = facts.valueOf(node);
      // What an agent answered is recorded, whatever it was asked.
      if (value !== node && !facts.runsAgents(value)) found = findUnstable(facts, value, disordered, seen);
      else if (value !== node) found = racedValue(facts, value);
    }
    return found !== undefined;
  });
  return found;
}

function unstableNode(facts: ScriptFacts, node: AnyNode): string | undefined {
  if (node.type === 'MemberExpression' && facts.isGlobal(node.object) && node.object.type === 'Identifier') {
    const name = `${node.object.name}.${memberName(node)}`;
    if (name === 'budget.spent' || name === 'budget.remaining') return `${name}(), which depends on what was cached`;
    if (CLOCKS.has(name)) return name;
  }
  return racedValue(facts, node);
}

function racedValue(facts: ScriptFacts, node: AnyNode): string | undefined {
  const call = node.type === 'AwaitExpression' ? node.argument : node;
  if (call.type !== 'CallExpression' || call.callee.type !== 'MemberExpression') return undefined;
  const { object } = call.callee;
  const method = memberName(call.callee);
  const isPromise = object.type === 'Identifier' && object.name === 'Promise' && facts.isGlobal(object);
  return isPromise && (method === 'race' || method === 'any')
    ? `the winner of Promise.${method}, which depends on timing`
    : undefined;
}

function disorderedName(facts: ScriptFacts, node: AnyNode, disordered: readonly Disordered[]): string | undefined {
  if (node.type !== 'Identifier') return undefined;
  const holder = facts.pathOf(node)?.parent?.node;
  if (holder !== undefined && memberName(holder) === 'length') return undefined;
  const isListed = disordered.some(({ name, scope }) => name === node.name && facts.bindingOf(node) === scope);
  return isListed ? `${node.name}, which agents fill in the order in which they finish` : undefined;
}

/** Lists that get a `push` inside a callback that may run beside others, after an agent. A list that is sorted is left out. */
function findDisordered(facts: ScriptFacts): readonly Disordered[] {
  const pushed: Disordered[] = [];
  const sorted: Disordered[] = [];
  for (const path of facts.paths) {
    const { node } = path;
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') continue;
    const { object } = node.callee;
    const method = memberName(node.callee);
    const scope = facts.bindingOf(object);
    if (object.type !== 'Identifier' || scope === undefined) continue;
    const list = { name: object.name, scope };
    if (method === 'sort' || method === 'toSorted') sorted.push(list);
    if ((method === 'push' || method === 'unshift') && isBesideOthers(facts, path, scope)) pushed.push(list);
  }
  return pushed.filter(({ name, scope }) => !sorted.some((list) => list.name === name && list.scope === scope));
}

/** Tells whether a place is in a callback, below the list's scope, that `parallel`, `pipeline`, `map` or `then` runs for agents. */
function isBesideOthers(facts: ScriptFacts, path: NodePath, scope: AnyNode): boolean {
  for (let at: NodePath | undefined = path; at !== undefined && at.node !== scope; at = at.parent) {
    if (!isFunction(at.node) || at.parent === undefined) continue;
    const call = callAround(at);
    if (call?.type !== 'CallExpression') continue;
    const method = memberName(call.callee);
    if (method === 'then' && facts.isAgentPromise(call) && isStartedAhead(facts, call, scope)) return true;
    const isConcurrent = ['parallel', 'pipeline'].includes(facts.globalCallee(call) ?? '') || method === 'map';
    const waits = at.node.async || facts.givesAgentPromise(at.node) || method === 'pipeline';
    if (isConcurrent && (waits || isLaterStage(facts, call, at.node)) && facts.runsAgents(call)) return true;
  }
  return false;
}

/** The call whose argument a function is, directly, in an array, or as what a `map` callback gives. */
function callAround(path: NodePath): AnyNode | undefined {
  let at = path.parent;
  while (at?.node.type === 'ArrayExpression' || (at !== undefined && isFunction(at.node))) at = at.parent;
  return at?.node;
}

/** A chain in a callback or a loop that is not awaited there, so that others start before it is done. */
function isStartedAhead(facts: ScriptFacts, chain: AnyNode, scope: AnyNode): boolean {
  let at = facts.pathOf(chain)?.parent;
  while (at?.node.type === 'MemberExpression' || at?.node.type === 'CallExpression') at = at.parent;
  if (at?.node.type === 'AwaitExpression') return false;
  for (; at !== undefined && at.node !== scope; at = at.parent) {
    if (isFunction(at.node) || /^(?:For|ForIn|ForOf|While|DoWhile)Statement$/.test(at.node.type)) return true;
  }
  return false;
}

/** A stage of `pipeline` after the first runs once that item's agent is done. */
function isLaterStage(facts: ScriptFacts, call: AnyNode, stage: AnyNode): boolean {
  return (
    call.type === 'CallExpression' &&
    facts.globalCallee(call) === 'pipeline' &&
    call.arguments.indexOf(stage as never) > 1
  );
}
