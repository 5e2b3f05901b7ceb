/** Where a process may be struck down. The product knows nothing of these: they are put around its ports. */

/** What changes something outside the process: files and names of files, and what is sent to a model or to the script. */
export type FaultOperation =
  | 'open'
  | 'write'
  | 'datasync'
  | 'sync'
  | 'truncate'
  | 'rename'
  | 'link'
  | 'unlink'
  | 'mkdir'
  | 'writeFile'
  | 'utimes'
  | 'send request'
  | 'send answer';

/** `half` is for writes: the first half reaches the file. */
export type FaultMoment = 'before' | 'half' | 'after';

/** For example `half write journal.jsonl`. */
export type FaultPoint = `${FaultMoment} ${FaultOperation} ${string}`;

/** Thrown at the fault point and by everything after it. */
export class Struck extends Error {}

/** One passage of a point: which one of those that a process makes, from 1. */
export interface Passage {
  readonly point: FaultPoint;
  readonly count: number;
}

/**
 * Counts how often a process passes each fault point, and strikes it at one passage. From then on nothing it does has an
 * effect. (What runs at once passes in any order, so a place in the order of all would mean another point each time.)
 */
export class FaultSwitch {
  /** The passages so far, in order. */
  readonly passed: Passage[] = [];
  readonly #strikeAt: Passage | undefined;
  readonly #counts = new Map<FaultPoint, number>();
  #struck = false;

  /** @param strikeAt strikes nowhere when it is not given */
  constructor(strikeAt?: Passage) {
    this.#strikeAt = strikeAt;
  }

  get struck(): boolean {
    return this.#struck;
  }

  /** @throws Struck at the strike, and after it */
  pass(moment: FaultMoment, operation: FaultOperation, name: string): void {
    if (this.#arrive(moment, operation, name)) throw new Struck(`struck ${moment} ${operation} ${name}`);
  }

  /** The same for a point that does something before it is fatal: true when the strike is here. */
  strikesHere(moment: FaultMoment, operation: FaultOperation, name: string): boolean {
    if (this.#struck) throw new Struck('struck before');
    return this.#arrive(moment, operation, name);
  }

  #arrive(moment: FaultMoment, operation: FaultOperation, name: string): boolean {
    if (this.#struck) return true;
    const point: FaultPoint = `${moment} ${operation} ${name}`;
    const count = (this.#counts.get(point) ?? 0) + 1;
    this.#counts.set(point, count);
    this.passed.push({ point, count });
    this.#struck = this.#strikeAt?.point === point && this.#strikeAt.count === count;
    return this.#struck;
  }
}
