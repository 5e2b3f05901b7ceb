import type { SchemaNode, SchemaObject } from './merge-schemas.ts';
import { CannotMakeError, DEEP, MAX_VALUES, numberOr, type ValueMaker } from './value-maker.ts';

const TRIES_FOR_A_NEW_ITEM = 40;

/** Makes an array of two or three items unless the node asks for another number. @throws CannotMakeError */
export function makeArray(maker: ValueMaker, node: SchemaObject, name: string, depth: number): readonly unknown[] {
  const { least, length } = chooseLength(maker, node, depth);
  if (length > MAX_VALUES) throw new CannotMakeError('the schema asks for a very long list');
  const known = new Set<string>();
  const items: unknown[] = [];
  while (items.length < length) {
    const schema = itemSchema(node, items.length);
    const make = () => maker.make(schema, singular(name), depth + 1);
    const item = node.uniqueItems === true ? makeNew(make, known) : { value: make() };
    if (item === undefined) break;
    items.push(item.value);
  }
  if (items.length < least) throw new CannotMakeError(`too few different items are possible in ${name}`);
  return items;
}

function chooseLength({ random, growth }: ValueMaker, node: SchemaObject, depth: number) {
  const tuple = tupleOf(node);
  const wanted = node.contains === undefined ? 0 : numberOr(node.minContains, 1);
  const least = Math.max(numberOr(node.minItems, 0), wanted);
  const most = Math.min(numberOr(node.maxItems, Infinity), node.items === false ? tuple.length : Infinity);
  const small = depth >= DEEP || (growth > 12 && random.chance(30));
  const wished = small ? least : Math.max(tuple.length, 2 + random.below(2));
  return { least, length: Math.max(least, Math.min(wished, most)) };
}

function itemSchema(node: SchemaObject, at: number): SchemaNode {
  const plain = tupleOf(node)[at] ?? (node.items as SchemaNode | undefined) ?? true;
  const mustFit = node.contains !== undefined && at < numberOr(node.minContains, 1);
  return mustFit ? { allOf: [plain, node.contains] } : plain;
}

function tupleOf(node: SchemaObject): readonly SchemaNode[] {
  return (node.prefixItems as readonly SchemaNode[] | undefined) ?? [];
}

/** Makes a value that is not among the known ones; undefined when it finds none. */
function makeNew(make: () => unknown, known: Set<string>): { readonly value: unknown } | undefined {
  for (let tries = 0; tries < TRIES_FOR_A_NEW_ITEM; tries += 1) {
    const value = make();
    const text = JSON.stringify(value);
    if (known.has(text)) continue;
    known.add(text);
    return { value };
  }
  return undefined;
}

function singular(name: string): string {
  return /[^s]s$/.test(name) && name.length > 3 ? name.slice(0, -1) : name;
}
