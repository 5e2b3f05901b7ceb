import type {
  AnyNode,
  ArrowFunctionExpression,
  AwaitExpression,
  BlockStatement,
  CallExpression,
  Expression,
  ForOfStatement,
  FunctionExpression,
  ReturnStatement,
  TryStatement,
  YieldExpression,
} from 'acorn';
import { type FunctionNode, isFunction, varNames } from './find-binding.ts';
import { Insertions } from './insertions.ts';
import type { ScriptProgram } from './parse-program.ts';
import { chooseScopeNames, type ScopeNames, scopeParameters } from './scope-names.ts';
import { PARAMETERS_END } from './wrap-program.ts';

/**
 * Makes a script's code keep its scopes: after an `await`, in a handler of a promise, in an async function that is called many
 * times at once, calls know where they are. The guest's side is `dsl/scope-hooks.ts`.
 *
 * Contract:
 * - Text is only put in, never on a line of its own and always marked (`dsl/inserted-text.ts`): lines hold, columns can be told.
 * - No statement begins with a bracket that did not: a script without semicolons means what it meant.
 * - `await` waits for the very value the script gave, and no turn longer.
 */
export function trackScopes({ code, main }: ScriptProgram): string {
  const tracker = new ScopeTracker(code);
  tracker.visit(main);
  return tracker.finish(main);
}

/** A function of the script, and what is known of it so far. */
interface FunctionContext {
  readonly node: FunctionNode;
  readonly rank: number;
  readonly tries: TryStatement[];
  /** Whether it may wait for something. */
  suspends: boolean;
}

interface Visit {
  readonly node: AnyNode;
  /** Undefined outside of async functions. */
  readonly around: FunctionContext | undefined;
  /** The statement with its labels, where a node is one. */
  readonly labelled: AnyNode;
}

/** How many handlers each method of a promise takes. */
const HANDLERS: ReadonlyMap<string | undefined, number> = new Map([
  ['then', 2],
  ['catch', 1],
  ['finally', 1],
]);

class ScopeTracker {
  readonly #code: string;
  readonly #chunks = new Insertions();
  readonly #functions: FunctionContext[] = [];
  readonly #identifiers = new Set<string>();
  #rank = 0;

  constructor(code: string) {
    this.#code = code;
  }

  /** Visits in source order with a stack of its own, so that a deep tree cannot overflow the engine's. */
  visit(main: FunctionExpression): void {
    const pending: Visit[] = [{ node: main, around: undefined, labelled: main }];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      this.#rank += 1;
      const inside = this.#enter(at);
      pushChildren(at, inside, pending);
    }
  }

  finish(main: FunctionExpression): string {
    for (const context of this.#functions) {
      if (context.suspends) this.#wrapBody(context, context.node === main);
    }
    if (this.#chunks.isEmpty) return this.#code;
    const names = chooseScopeNames(this.#identifiers);
    this.#chunks.open(PARAMETERS_END, 0, scopeParameters(names));
    return this.#chunks.applyTo(this.#code, names);
  }

  /** Notes what a node needs; gives the function in which its children are. */
  #enter({ node, around, labelled }: Visit): FunctionContext | undefined {
    if (isFunction(node)) return this.#function(node);
    switch (node.type) {
      case 'Identifier':
        this.#identifiers.add(node.name);
        break;
      case 'CallExpression':
        this.#handlers(node);
        break;
      case 'AwaitExpression':
        if (around !== undefined) this.#await(node, around);
        break;
      case 'ForOfStatement':
        if (around !== undefined && node.await) this.#forAwait(node, labelled, around);
        break;
      case 'YieldExpression':
        if (around?.node.generator === true) this.#yield(node);
        break;
      case 'ReturnStatement':
        if (around?.node.generator === true) this.#return(node);
        break;
      case 'TryStatement':
        around?.tries.push(node);
        break;
      default:
        break;
    }
    return around;
  }

  #function(node: FunctionNode): FunctionContext | undefined {
    if (!node.async) return undefined;
    // An async generator waits for what it yields and returns.
    const context = { node, rank: this.#rank, tries: [], suspends: node.generator };
    this.#functions.push(context);
    return context;
  }

  /** `await x` → `awaited?.($here,await $leave($here, x))`. The engine's messages know nothing to say of an optional call. */
  #await(node: AwaitExpression, around: FunctionContext): void {
    around.suspends = true;
    const rank = this.#rank;
    this.#chunks.open(node.start, rank, ({ resume, here }) => `${resume}?.(${here},`);
    this.#chunks.open(node.start + 'await'.length, rank, ({ leave, here }) => ` ${leave}(${here},`);
    this.#chunks.close(node.end, rank, '))');
  }

  #yield(node: YieldExpression): void {
    const rank = this.#rank;
    this.#chunks.open(node.start, rank, ({ resume, here }) => `${resume}?.(${here},`);
    if (!node.argument) {
      this.#chunks.close(node.end, rank, ({ leave, here }) => ` ${leave}(${here}))`);
      return;
    }
    this.#wrap(node.argument, ({ leave, walk, here }) => `${node.delegate ? walk : leave}(${here},`);
    this.#chunks.close(node.end, rank, ')');
  }

  #return(node: ReturnStatement): void {
    if (node.argument) this.#wrap(node.argument, ({ leave, here }) => `${leave}(${here},`);
  }

  /** A rejection and a way out of the loop that waits once more come back to the `finally`. */
  #forAwait(node: ForOfStatement, labelled: AnyNode, around: FunctionContext): void {
    around.suspends = true;
    const rank = this.#rank;
    const { body } = node;
    this.#chunks.open(labelled.start, rank, 'try{');
    this.#chunks.close(labelled.end, rank, ({ resume, here }) => `}finally{${resume}(${here})}`);
    this.#wrap(node.right, ({ walk, here }) => `${walk}(${here},`);
    if (body.type === 'BlockStatement') {
      this.#resumeIn(body);
    } else {
      // Its end is the loop's, and comes first.
      this.#rank += 1;
      this.#chunks.open(body.start, this.#rank, ({ resume, here }) => `{${resume}(${here});`);
      this.#chunks.close(body.end, this.#rank, '}');
    }
  }

  #handlers({ callee, arguments: given }: CallExpression): void {
    if (callee.type !== 'MemberExpression') return;
    const count = HANDLERS.get(memberName(callee.property, callee.computed)) ?? 0;
    for (const handler of given.slice(0, count)) {
      if (handler.type === 'SpreadElement') return;
      this.#wrap(handler, ({ follow }) => `${follow}(`);
    }
  }

  /** Puts a call around an expression. The brackets that a list of them must have had are outside of the node. */
  #wrap(node: Expression, opening: (names: ScopeNames) => string): void {
    const isList = node.type === 'SequenceExpression';
    this.#chunks.open(node.start, this.#rank, isList ? (names) => `${opening(names)}(` : opening);
    this.#chunks.close(node.end, this.#rank, isList ? '))' : ')');
  }

  #resumeIn(block: BlockStatement, rank = this.#rank): void {
    this.#chunks.open(block.start + 1, rank, ({ resume, here }) => `${resume}(${here});`);
  }

  #wrapBody({ node, rank, tries }: FunctionContext, isMain: boolean): void {
    for (const { handler, finalizer } of tries) {
      if (handler) this.#resumeIn(handler.body, rank);
      if (finalizer) this.#resumeIn(finalizer, rank);
    }
    if (node.type === 'ArrowFunctionExpression' && node.body.type !== 'BlockStatement') {
      const from = this.#afterArrow(node);
      this.#chunks.open(from, rank, (names) => `{${entering(names)}try{return(`);
      this.#chunks.close(node.end, rank, (names) => `)${exiting(names)}}`);
      return;
    }
    const body = node.body as BlockStatement;
    if (body.end - body.start === '{}'.length) return;
    // The wrapper's directive stays the first statement of the author's function.
    const from = isMain ? (body.body[0] as AnyNode).end : body.start + 1;
    if (fitsInBlock(body)) {
      this.#chunks.open(from, rank, (names) => `${entering(names)}try{`);
      this.#chunks.close(body.end - 1, rank, exiting);
    } else {
      this.#chunks.open(from, rank, ({ enter, here }) => `using ${here}=${enter}();`);
    }
  }

  /** Offset after the `=>` of an arrow function; between the last parameter and it there may be comments. */
  #afterArrow(node: ArrowFunctionExpression): number {
    const gap = /(?:\/\*[\s\S]*?\*\/|\/\/.*|[^=/])*=>/y;
    gap.lastIndex = node.params.at(-1)?.end ?? node.start;
    gap.test(this.#code);
    return gap.lastIndex;
  }
}

function entering({ enter, here }: ScopeNames): string {
  return `const ${here}=${enter}();`;
}

function exiting({ exit, here }: ScopeNames): string {
  return `}finally{${exit}(${here})}`;
}

/** Functions of one name are fine in a function body, and so are functions and `var`s; in a block they are not. */
function fitsInBlock(body: BlockStatement): boolean {
  const names = new Set<string>();
  for (const statement of body.body) {
    if (statement.type !== 'FunctionDeclaration') continue;
    if (names.has(statement.id.name)) return false;
    names.add(statement.id.name);
  }
  if (names.size === 0) return true;
  for (const name of varNames(body)) if (names.has(name)) return false;
  return true;
}

function memberName(property: AnyNode, computed: boolean): string | undefined {
  if (property.type === 'Identifier') return computed ? undefined : property.name;
  return property.type === 'Literal' && typeof property.value === 'string' ? property.value : undefined;
}

function pushChildren({ node, labelled }: Visit, around: FunctionContext | undefined, pending: Visit[]): void {
  const first = pending.length;
  const isLabel = node.type === 'LabeledStatement';
  const push = (child: unknown): void => {
    if (isNode(child))
      pending.push({ node: child, around, labelled: isLabel && child === node.body ? labelled : child });
  };
  const members = node as unknown as Readonly<Record<string, unknown>>;
  for (const key in members) {
    const value = members[key];
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) value.forEach(push);
    else push(value);
  }
  for (let low = first, high = pending.length - 1; low < high; low += 1, high -= 1) {
    const held = pending[low] as Visit;
    pending[low] = pending[high] as Visit;
    pending[high] = held;
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
