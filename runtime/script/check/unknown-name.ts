import { PERMITTED } from '../../../dsl/permit-table.ts';
import { PROGRAM_PARAMETERS } from '../program-parameters.ts';
import type { NodePath } from '../visit-nodes.ts';
import type { Finding } from './finding.ts';
import { isReference, type ScriptFacts } from './script-facts.ts';

/** What a script has besides the language's own objects and the workflow's words. Source: spec S-19, S-21. */
const HOST_GLOBALS = [
  ...['URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'structuredClone', 'atob', 'btoa', 'queueMicrotask'],
  ...['setTimeout', 'clearTimeout', 'arguments'],
] as const;

/** Every name that a script may use without declaring it. */
export const GUEST_NAMES: ReadonlySet<string> = new Set([
  ...(PERMITTED['globalThis'] ?? '').split(' '),
  ...PROGRAM_PARAMETERS,
  ...HOST_GLOBALS,
]);

/** What models reach for, and what to do instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  ...sameFor('fetch XMLHttpRequest WebSocket', 'a script has no network; let an agent fetch it'),
  ...sameFor(
    'require module exports process Buffer global __dirname __filename fs path os',
    'a script has no Node; let an agent do it',
  ),
  ...sameFor('window document navigator location localStorage', 'a script runs in no browser'),
  ...sameFor('setInterval setImmediate', 'use setTimeout, or a loop that awaits'),
  ...sameFor('crypto performance', 'a script that is run again must do the same; take such a value from args'),
};

/** A name that nothing declares: it ends the script with a ReferenceError when it is reached. */
export function findUnknownNames(facts: ScriptFacts): readonly Finding[] {
  const told = new Set<string>();
  return facts.paths.flatMap((path) => {
    const { node } = path;
    if (node.type !== 'Identifier' || !isUnknown(path, facts) || told.has(node.name)) return [];
    told.add(node.name);
    const todo = INSTEAD[node.name] ?? 'declare it, or correct its spelling';
    return [{ node, message: `${node.name} is not defined: reaching it ends the script; ${todo}.` }];
  });
}

function isUnknown(path: NodePath, facts: ScriptFacts): boolean {
  const { node, parent, key } = path;
  if (node.type !== 'Identifier' || GUEST_NAMES.has(node.name) || !isReference(path)) return false;
  if (key === 'label' || (parent?.node.type === 'UnaryExpression' && parent.node.operator === 'typeof')) return false;
  if (parent?.node.type === 'MetaProperty') return false;
  return facts.isGlobal(node);
}

function sameFor(names: string, todo: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, todo]));
}
