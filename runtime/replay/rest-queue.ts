export interface RestQueueOptions<T> {
  /** Resolves when the script has done all that the answers given so far let it do. */
  readonly settled: () => Promise<void>;
  /** How much it has asked for; while that grows, the script is not at rest. */
  readonly count: () => number;
  /** Whether an item waits on although the script is at rest. Then {@link RestQueue.lookAgain} is to be called in time. */
  readonly waitsOn: (item: T) => boolean;
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
  #deciding = false;
  /** Times that something has happened. */
  #news = 0;

  constructor(options: RestQueueOptions<T>) {
    this.#options = options;
  }

  add(item: T): void {
    this.#waiting.push(item);
    this.lookAgain();
  }

  /** Something has happened for which an item may have waited. */
  lookAgain(): void {
    this.#news += 1;
    if (this.#deciding || this.#waiting.length === 0) return;
    this.#deciding = true;
    void this.#decide();
  }

  async #decide(): Promise<void> {
    const { settled, count, waitsOn, take } = this.#options;
    // An answer that is given while one waits is another reason for the script to go on.
    for (let before = -1; before !== count() + this.#news; ) {
      before = count() + this.#news;
      await settled();
    }
    this.#deciding = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const item of waiting) {
      if (waitsOn(item)) this.#waiting.push(item);
      else take(item);
    }
  }
}
