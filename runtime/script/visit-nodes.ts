import type { AnyNode } from 'acorn';

/** A node and how it was reached. */
export interface NodePath {
  readonly node: AnyNode;
  /** Undefined at the root of the visit. */
  readonly parent: NodePath | undefined;
  /** The member of the parent that holds the node, for example `body` or `params`. */
  readonly key: string;
}

/** Visits a tree in source order. It keeps its own stack, so that a deep tree cannot overflow the engine's. */
export function visitNodes(root: AnyNode, onNode: (path: NodePath) => void): void {
  visitFrom({ node: root, parent: undefined, key: '' }, (path) => {
    onNode(path);
    return true;
  });
}

/** Visits a node and what is below it; the callback returns false to leave out what is below a node. */
export function visitFrom(from: NodePath, onNode: (path: NodePath) => boolean): void {
  const pending: NodePath[] = [from];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (onNode(path)) pushChildren(path, pending);
  }
}

function pushChildren(parent: NodePath, pending: NodePath[]): void {
  const first = pending.length;
  const members = parent.node as unknown as Readonly<Record<string, unknown>>;
  for (const key in members) {
    const value = members[key];
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) pending.push({ node: item, parent, key });
    } else if (isNode(value)) {
      pending.push({ node: value, parent, key });
    }
  }
  reverseFrom(pending, first);
}

function reverseFrom(pending: NodePath[], first: number): void {
  for (let low = first, high = pending.length - 1; low < high; low += 1, high -= 1) {
    const held = pending[low] as NodePath;
    pending[low] = pending[high] as NodePath;
    pending[high] = held;
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
