export interface RestQueueOptions<T> {
  /** Resolves when the script has done all that the answers given so far let it do. */
  readonly settled: () => Promise<void>;
  /** How much it has asked for; while that grows, the script is not at rest. */
  readonly count: () => number;
  /** Called with each item, in order. */
  readonly take: (item: T) => void;
}

/**
 * Holds back what is better decided when the script has come to rest: what it asks for on the strength of the answers it
 * already has goes first.
 */
export class RestQueue<T> {
  readonly #options: RestQueueOptions<T>;
  #waiting: T[] = [];

  constructor(options: RestQueueOptions<T>) {
    this.#options = options;
  }

  add(item: T): void {
    this.#waiting.push(item);
    if (this.#waiting.length === 1) void this.#decide();
  }

  async #decide(): Promise<void> {
    const { settled, count, take } = this.#options;
    for (let before = -1; before !== count(); ) {
      before = count();
      await settled();
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const item of waiting) take(item);
  }
}
