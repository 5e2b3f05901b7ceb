import type { AnyNode, CallExpression, FunctionExpression } from 'acorn';
import { type FunctionNode, findBinding, isFunction } from '../find-binding.ts';
import { type NodePath, visitFrom, visitNodes } from '../visit-nodes.ts';

/** Globals whose calls run agents and give a promise. */
const AGENT_CALLS: ReadonlySet<string> = new Set(['agent', 'parallel', 'pipeline', 'workflow']);
const CHAINS: ReadonlySet<string> = new Set(['then', 'catch', 'finally']);

/** What the rules ask of a script's syntax tree. Where a question cannot be answered from the text, the answer is no. */
export class ScriptFacts {
  /** Every node below the author's function, in source order. */
  readonly paths: readonly NodePath[];
  readonly #pathOf = new Map<AnyNode, NodePath>();
  readonly #constants = new Map<string, NodePath[]>();

  constructor(main: FunctionExpression) {
    const paths: NodePath[] = [];
    visitNodes(main, (path) => {
      paths.push(path);
      this.#pathOf.set(path.node, path);
      this.#noteConstant(path);
    });
    this.paths = paths;
  }

  /** Calls of one of the workflow's globals; a local of the same name is none. */
  *callsOf(name: string): Generator<{ readonly call: CallExpression; readonly path: NodePath }> {
    for (const path of this.paths) {
      if (path.node.type === 'CallExpression' && this.globalCallee(path.node) === name) yield { call: path.node, path };
    }
  }

  /** The global that a call calls by its name. */
  globalCallee(call: CallExpression): string | undefined {
    return call.callee.type === 'Identifier' && this.isGlobal(call.callee) ? call.callee.name : undefined;
  }

  isGlobal(node: AnyNode): boolean {
    return node.type === 'Identifier' && this.bindingOf(node) === undefined;
  }

  /** The scope that declares the name of an identifier. */
  bindingOf(node: AnyNode): AnyNode | undefined {
    const path = this.#pathOf.get(node);
    return node.type === 'Identifier' && path !== undefined ? findBinding(node.name, path) : undefined;
  }

  /** What a `const` or a function of this name stands for, however many names are between; else the node itself. */
  valueOf(node: AnyNode): AnyNode {
    let value = node;
    for (let hops = 0; hops < 10 && value.type === 'Identifier'; hops += 1) {
      const init = this.#initOf(value);
      if (init === undefined) break;
      value = init;
    }
    return value;
  }

  /** A call that runs agents and gives a promise, or a `then`, `catch` or `finally` of one. */
  isAgentPromise(node: AnyNode): boolean {
    let inner = node;
    for (;;) {
      if (inner.type !== 'CallExpression') return false;
      const name = this.globalCallee(inner);
      if (name !== undefined) return AGENT_CALLS.has(name);
      const { callee } = inner;
      if (callee.type !== 'MemberExpression' || !CHAINS.has(memberName(callee))) return false;
      inner = callee.object;
    }
  }

  /** Tells whether agents are called anywhere below a node. */
  runsAgents(node: AnyNode): boolean {
    return this.has(node, (below) => this.isAgentPromise(below));
  }

  /** Tells whether a node or one below it passes a test; names that are no variables are not asked about. */
  has(node: AnyNode, test: (below: AnyNode) => boolean): boolean {
    let found = false;
    visitFrom(this.#pathOf.get(node) ?? { node, parent: undefined, key: '' }, (path) => {
      found ||= isReference(path) && test(path.node);
      return !found;
    });
    return found;
  }

  /** A function that starts agents when it is called and gives their promise: as `map` or `forEach` would call it. */
  givesAgentPromise(node: AnyNode): node is FunctionNode {
    if (!isFunction(node)) return false;
    if (node.async) return this.runsAgents(node.body);
    return node.body.type === 'BlockStatement' ? this.#returns(node.body) : this.isAgentPromise(node.body);
  }

  pathOf(node: AnyNode): NodePath | undefined {
    return this.#pathOf.get(node);
  }

  #returns(body: AnyNode): boolean {
    let found = false;
    visitFrom({ node: body, parent: undefined, key: '' }, ({ node }) => {
      if (node.type === 'ReturnStatement' && node.argument) found ||= this.isAgentPromise(node.argument);
      return !isFunction(node);
    });
    return found;
  }

  #noteConstant(path: NodePath): void {
    const { node, parent } = path;
    const isConstant =
      node.type === 'FunctionDeclaration' ||
      (node.type === 'VariableDeclarator' &&
        parent?.node.type === 'VariableDeclaration' &&
        parent.node.kind === 'const');
    if (!isConstant || node.id?.type !== 'Identifier') return;
    this.#constants.set(node.id.name, [...(this.#constants.get(node.id.name) ?? []), path]);
  }

  #initOf(node: AnyNode): AnyNode | undefined {
    const scope = this.bindingOf(node);
    if (node.type !== 'Identifier' || scope === undefined) return undefined;
    const declared = this.#constants.get(node.name)?.find((path) => findBinding(node.name, path) === scope)?.node;
    return declared?.type === 'VariableDeclarator' ? (declared.init ?? undefined) : declared;
  }
}

/** False for a name that is no variable: a member written out, or the key of a property. */
export function isReference({ node, parent, key }: NodePath): boolean {
  if (node.type !== 'Identifier' || parent === undefined) return true;
  const { node: holder } = parent;
  if (key === 'property') return holder.type === 'MemberExpression' && holder.computed;
  return key !== 'key' || ('computed' in holder && holder.computed);
}

/** The name of a member that is written out, also as `['name']`; else an empty string. */
export function memberName(node: AnyNode): string {
  if (node.type !== 'MemberExpression') return '';
  if (!node.computed) return node.property.type === 'Identifier' ? node.property.name : '';
  return node.property.type === 'Literal' ? String(node.property.value) : '';
}
