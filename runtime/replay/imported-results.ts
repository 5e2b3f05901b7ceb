/** One call that another program recorded, in the order in which its agents started. */
export interface ImportedCall {
  /** The label the author gave it; absent where the record has none. */
  readonly label?: string;
  /** JSON text of its answer; absent when it had none, or the answer was `null`. */
  readonly resultJson?: string;
}

/**
 * Deals recorded answers to the calls of a run by their order alone: the keys of the other program are not ours, and its
 * record holds no prompts. The n-th call takes the n-th record. Where both sides name a label it must be the same: a
 * call whose place holds another label takes the first record of its own label that is left.
 */
export class ImportedResults {
  readonly #left: (ImportedCall | undefined)[];

  constructor(calls: readonly ImportedCall[]) {
    this.#left = [...calls];
  }

  /**
   * Takes the record of one call; gives its answer, or undefined when it has none.
   *
   * @param index counts the calls of the run from 1
   * @param label what the script gave as label
   */
  take(index: number, label: string | undefined): string | undefined {
    const at = this.#placeOf(index - 1, label);
    if (at === -1) return undefined;
    const call = this.#left[at];
    this.#left[at] = undefined;
    return call?.resultJson;
  }

  #placeOf(place: number, label: string | undefined): number {
    const own = this.#left[place];
    if (own !== undefined && (label === undefined || own.label === undefined || own.label === label)) return place;
    return label === undefined ? -1 : this.#left.findIndex((call) => call?.label === label);
  }
}
