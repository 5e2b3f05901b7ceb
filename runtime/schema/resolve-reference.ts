import { isSchemaObject } from './schema-keywords.ts';
import { UnusableSchemaError } from './unusable-schema-error.ts';

/** Where a reference leads: `#`, or `#/…` as a JSON pointer with its target. */
export interface ReferenceTarget {
  readonly pointer: string;
  readonly target: unknown;
}

/** Finds the targets of references within one schema document. Nothing is ever fetched. */
export interface ReferenceIndex {
  /** @throws UnusableSchemaError for a reference that leads out of the document or to nothing. */
  resolve(reference: string, place: string): ReferenceTarget;
}

export function createReferenceIndex(document: unknown): ReferenceIndex {
  let names: ReadonlyMap<string, string> | undefined;
  return {
    resolve(reference, place) {
      if (reference === '#' || reference === '') return { pointer: '#', target: document };
      if (reference.startsWith('#/')) return { pointer: reference, target: follow(document, reference, place) };
      names ??= namedPlaces(document);
      const [base = '', fragment = ''] = reference.split('#', 2);
      const pointer =
        names.get(reference) ?? (names.has(base) ? joinPointer(names.get(base) ?? '#', fragment) : undefined);
      if (pointer !== undefined)
        return { pointer, target: pointer === '#' ? document : follow(document, pointer, place) };
      const why = reference.startsWith('#')
        ? 'leads to nothing'
        : 'is not in this schema, and references are not fetched';
      throw new UnusableSchemaError(`The reference ${JSON.stringify(reference)} at ${place} ${why}.`);
    },
  };
}

function joinPointer(base: string, fragment: string): string | undefined {
  if (fragment === '') return base;
  return fragment.startsWith('/') ? base + fragment : undefined;
}

function follow(document: unknown, pointer: string, place: string): unknown {
  let at: unknown = document;
  for (const step of pointer.slice(2).split('/').map(decodeStep)) {
    const parent = at;
    at =
      typeof parent === 'object' && parent !== null && Object.hasOwn(parent, step)
        ? Reflect.get(parent, step)
        : undefined;
    if (at === undefined) {
      throw new UnusableSchemaError(`The reference ${JSON.stringify(pointer)} at ${place} leads to nothing.`);
    }
  }
  return at;
}

/** One step of a pointer in a URI fragment. Source: RFC 6901, 6. */
function decodeStep(step: string): string {
  let text = step;
  try {
    text = decodeURIComponent(step);
  } catch {
    // A lone percent sign is taken as it stands.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Every `$id`, `id` and anchor of the document with the pointer to its schema. */
function namedPlaces(document: unknown): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const pending: { node: unknown; pointer: string }[] = [{ node: document, pointer: '#' }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, pointer } = next;
    if (typeof node !== 'object' || node === null) continue;
    if (isSchemaObject(node)) {
      for (const key of ['$id', 'id'])
        if (typeof node[key] === 'string') names.set(node[key].replace(/#$/, ''), pointer);
      for (const key of ['$anchor', '$dynamicAnchor']) {
        if (typeof node[key] === 'string') names.set(`#${node[key]}`, pointer);
      }
    }
    for (const [key, child] of Object.entries(node)) {
      pending.push({
        node: child,
        pointer: `${pointer}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`,
      });
    }
  }
  return names;
}
