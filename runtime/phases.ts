import type { PhaseDeclaration } from '../protocol/workflow-meta.ts';
import type { EventWriter } from './counted-events.ts';

/** The phases of a run, numbered from 1: those declared in `meta` first, then others as they are met (S-14, E-5). */
export class Phases {
  readonly #indexes = new Map<string, number>();
  readonly #started = new Set<string>();
  readonly #events: EventWriter;

  constructor(declared: readonly PhaseDeclaration[], events: EventWriter) {
    this.#events = events;
    for (const { title } of declared) this.#number(title);
  }

  /** Gives the number of a phase; the first time it is entered, that is an event. */
  enter(title: string, kind?: 'child'): number {
    const index = this.#number(title);
    if (!this.#started.has(title)) {
      this.#started.add(title);
      this.#events.append('phase.started', { index, title, ...(kind === undefined ? {} : { kind }) });
    }
    return index;
  }

  #number(title: string): number {
    const known = this.#indexes.get(title);
    if (known !== undefined) return known;
    const index = this.#indexes.size + 1;
    this.#indexes.set(title, index);
    return index;
  }
}
