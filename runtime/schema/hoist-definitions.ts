import { createReferenceIndex } from './resolve-reference.ts';

/** A part of a document that something refers to. */
export interface ReferencedPart {
  /** Its name in `$defs` of the normal form. */
  readonly name: string;
  readonly pointer: string;
  readonly target: unknown;
}

/** Names the parts of a document that are referred to, so that they can stand in one `$defs` at the root. */
export interface Definitions {
  /** Gives the reference in normal form: `#` or `#/$defs/<name>`. @throws UnusableSchemaError */
  refer(reference: string, place: string): string;
  /** The parts in the order of their first reference; goes on with those that are found while iterating. */
  referenced(): Iterable<ReferencedPart>;
}

export function createDefinitions(document: unknown): Definitions {
  const index = createReferenceIndex(document);
  const parts = new Map<string, ReferencedPart>();
  const names = new Set<string>();
  return {
    refer(reference, place) {
      const { pointer, target } = index.resolve(reference, place);
      if (pointer === '#') return '#';
      const part = parts.get(pointer) ?? { name: freeName(pointer, names), pointer, target };
      parts.set(pointer, part);
      return `#/$defs/${part.name}`;
    },
    referenced: () => parts.values(),
  };
}

function freeName(pointer: string, taken: Set<string>): string {
  const last = pointer.slice(pointer.lastIndexOf('/') + 1);
  const base = last.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 60) || 'part';
  let name = base;
  for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
  taken.add(name);
  return name;
}
