import type { AnyNode, CallExpression, NewExpression } from 'acorn';
import { findBinding } from './find-binding.ts';
import type { NodePath } from './visit-nodes.ts';

/** A direct use of the clock or of chance. */
export interface ClockUse {
  /** As it is written, for example `Date.now()`. */
  readonly form: string;
  readonly reads: 'clock' | 'chance';
}

const METHODS: Readonly<Record<string, ClockUse>> = {
  'Date.now': { form: 'Date.now()', reads: 'clock' },
  'performance.now': { form: 'performance.now()', reads: 'clock' },
  'Math.random': { form: 'Math.random()', reads: 'chance' },
};

/**
 * Recognises a direct use of the clock or of chance, also through `globalThis`, optional calls and `Date['now']()`. A name that a
 * local declares is not one. Source: spec S-7.
 */
export function clockUse(path: NodePath): ClockUse | undefined {
  const { node } = path;
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return undefined;
  const callee = globalName(node.callee, path);
  if (callee === undefined) return undefined;
  if (callee === 'Date') return dateUse(node);
  return node.type === 'CallExpression' && Object.hasOwn(METHODS, callee) ? METHODS[callee] : undefined;
}

/** `Date(…)` without `new` ignores its arguments; a spread is looked at when the script runs. */
function dateUse(node: CallExpression | NewExpression): ClockUse | undefined {
  if (node.type === 'CallExpression') return { form: 'Date()', reads: 'clock' };
  return node.arguments.length === 0 ? { form: 'new Date()', reads: 'clock' } : undefined;
}

/** `Date.now` for `Date.now`, `Date?.['now']`, `globalThis.Date.now` where the first name is a global; else undefined. */
function globalName(callee: AnyNode, at: NodePath): string | undefined {
  const names: string[] = [];
  let node = callee;
  for (;;) {
    if (node.type === 'ChainExpression') node = node.expression;
    else if (node.type === 'MemberExpression') {
      const name = memberName(node.property, node.computed);
      if (name === undefined || names.length > 3) return undefined;
      names.unshift(name);
      node = node.object;
    } else break;
  }
  if (node.type !== 'Identifier' || findBinding(node.name, { node, parent: at, key: 'callee' })) return undefined;
  names.unshift(node.name);
  while (names[0] === 'globalThis') names.shift();
  return names.join('.');
}

function memberName(property: AnyNode, computed: boolean): string | undefined {
  if (property.type === 'Identifier') return computed ? undefined : property.name;
  if (property.type === 'Literal') return typeof property.value === 'string' ? property.value : undefined;
  if (property.type === 'TemplateLiteral' && property.expressions.length === 0) {
    return property.quasis[0]?.value.cooked ?? undefined;
  }
  return undefined;
}
