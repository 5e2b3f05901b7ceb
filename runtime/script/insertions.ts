import { asInserted } from '../../dsl/inserted-text.ts';
import type { ScopeNames } from './scope-names.ts';

/** A text to be put in; what it calls is named last, when all names of the script are known. */
export type InsertedText = string | ((names: ScopeNames) => string);

interface Insertion {
  readonly offset: number;
  readonly opens: boolean;
  readonly rank: number;
  readonly text: InsertedText;
}

/**
 * Texts to be put around parts of a code that lie within one another.
 *
 * Contract: ranks rise from the outside in. Where several texts meet, what closes comes before what opens, and the inner closes
 * before the outer.
 */
export class Insertions {
  readonly #all: Insertion[] = [];

  open(offset: number, rank: number, text: InsertedText): void {
    this.#all.push({ offset, opens: true, rank, text });
  }

  close(offset: number, rank: number, text: InsertedText): void {
    this.#all.push({ offset, opens: false, rank, text });
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  applyTo(code: string, names: ScopeNames): string {
    this.#all.sort(compare);
    const pieces: string[] = [];
    let from = 0;
    for (const { offset, text } of this.#all) {
      pieces.push(code.slice(from, offset), asInserted(typeof text === 'string' ? text : text(names)));
      from = offset;
    }
    pieces.push(code.slice(from));
    return pieces.join('');
  }
}

function compare(left: Insertion, right: Insertion): number {
  if (left.offset !== right.offset) return left.offset - right.offset;
  if (left.opens !== right.opens) return left.opens ? 1 : -1;
  return left.opens ? left.rank - right.rank : right.rank - left.rank;
}
