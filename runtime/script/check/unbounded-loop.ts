import type { AnyNode, Expression } from 'acorn';
import { isFunction } from '../find-binding.ts';
import type { NodePath } from '../visit-nodes.ts';
import { visitFrom } from '../visit-nodes.ts';
import type { Finding } from './finding.ts';
import type { ScriptFacts } from './script-facts.ts';

const COMPARISONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

/** An endless loop that runs agents and ends, if at all, only when an agent's answer says so. */
export function findUnboundedLoops(facts: ScriptFacts): readonly Finding[] {
  return facts.paths.flatMap((path) => {
    const body = endlessBody(path.node);
    if (body === undefined || !facts.runsAgents(body) || hasBound(path, facts)) return [];
    const message =
      'This loop runs agents and has no visible bound: count the rounds and stop at a limit, for example for (let round = 0; round < 5; round += 1).';
    return [{ node: path.node, message }];
  });
}

function endlessBody(node: AnyNode): AnyNode | undefined {
  switch (node.type) {
    case 'WhileStatement':
    case 'DoWhileStatement':
      return isAlwaysTrue(node.test) ? node.body : undefined;
    case 'ForStatement':
      return !node.test || isAlwaysTrue(node.test) ? node.body : undefined;
    default:
      return undefined;
  }
}

function isAlwaysTrue(test: Expression): boolean {
  return test.type === 'Literal' && Boolean(test.value);
}

/** An exit that always happens, or whose condition compares numbers or asks the budget. */
function hasBound(loop: NodePath, facts: ScriptFacts): boolean {
  let bounded = false;
  visitFrom(loop, (path) => {
    if (path.node !== loop.node && isFunction(path.node)) return false;
    if (leaves(path, loop)) bounded ||= isBoundedExit(path, loop, facts);
    return !bounded;
  });
  return bounded;
}

function leaves(path: NodePath, loop: NodePath): boolean {
  const { node } = path;
  if (node.type === 'ReturnStatement' || node.type === 'ThrowStatement') return true;
  if (node.type !== 'BreakStatement') return false;
  // A label names this loop or one around it.
  return node.label ? true : nearestBreakable(path) === loop.node;
}

function nearestBreakable(path: NodePath): AnyNode | undefined {
  for (let at = path.parent; at !== undefined; at = at.parent) {
    if (/^(?:For|ForIn|ForOf|While|DoWhile|Switch)Statement$/.test(at.node.type)) return at.node;
  }
  return undefined;
}

function isBoundedExit(exit: NodePath, loop: NodePath, facts: ScriptFacts): boolean {
  let isConditional = false;
  for (let at: NodePath | undefined = exit; at !== undefined && at.node !== loop.node; at = at.parent) {
    const { node } = at;
    if (node.type === 'IfStatement') {
      if (facts.has(node.test, (below) => isLimit(below, facts))) return true;
      isConditional = true;
    }
    if (/^(?:SwitchCase|CatchClause|(?:For|ForIn|ForOf|While)Statement)$/.test(node.type)) {
      isConditional ||= endlessBody(node) === undefined;
    }
  }
  return !isConditional;
}

function isLimit(node: AnyNode, facts: ScriptFacts): boolean {
  if (node.type === 'BinaryExpression') return COMPARISONS.has(node.operator);
  return node.type === 'Identifier' && node.name === 'budget' && facts.isGlobal(node);
}
